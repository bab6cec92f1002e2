import HTTPWire
import NIOCore
import Testing

@Suite("A response head")
struct ResponseHeadTests {
    @Test(
        "is framed by status, method and fields in the order of RFC 9112 §6.3",
        arguments: [
            ("HTTP/1.1 200 OK", "Content-Length: 5", false, BodyFraming.length(5), true),
            ("HTTP/1.1 200 OK", "Content-Length:   05", false, .length(5), true),
            ("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", false, .chunked, true),
            ("HTTP/1.1 200 OK", "X: y", false, .untilClose, false),
            ("HTTP/1.0 200 OK", "X: y", false, .untilClose, false),
            ("HTTP/1.0 200 OK", "Content-Length: 5", false, .length(5), false),
            ("HTTP/1.0 200 OK", "Content-Length: 5\r\nConnection: keep-alive", false, .length(5), false),
            ("HTTP/1.1 200 OK", "Content-Length: 5", true, .none, true),
            ("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", true, .none, true),
            ("HTTP/1.1 204 No Content", "Content-Length: 0", false, .none, true),
            ("HTTP/1.1 304 Not Modified", "Content-Length: 5", false, .none, true),
            ("HTTP/1.1 304 Not Modified", "Transfer-Encoding: chunked", false, .none, true),
            ("HTTP/1.1 100 Continue", "X: y", false, .none, true),
            ("HTTP/1.1 101 Switching Protocols", "Connection: upgrade", false, .none, true),
            ("HTTP/1.1 200", "Content-Length: 0\r\nConnection: close", false, .length(0), false),
            ("HTTP/1.1 200 ", "Content-Length: 0", false, .length(0), true),
        ])
    func framing(line: String, fields: String, toHead: Bool, framing: BodyFraming, keepAlive: Bool) throws {
        let text = "\(line)\r\n\(fields)\r\n\r\n"
        let head = try #require(Wire.parseResponse(text, requestWasHead: toHead).value)
        #expect(head.framing == framing)
        #expect(head.keepAlive == keepAlive)
        #expect(try #require(Wire.dripResponse(Wire.bytes(text), requestWasHead: toHead).value).bytes == head.bytes)
    }

    @Test("keeps status, reason and length")
    func parts() throws {
        let head = try #require(
            Wire.parseResponse("HTTP/1.1 404 Not\tFound \u{e9}\r\nContent-Length: 7\r\n\r\n", requestWasHead: true)
                .value)
        #expect(head.status == 404)
        #expect(head.withBytes(head.reason) { Array($0) } == Wire.bytes("Not\tFound \u{e9}"))
        #expect(head.contentLength == 7)
    }

    @Test(
        "is refused when broken",
        arguments: [
            ("HTTP/1.1 200 OK\nX: y\r\n\r\n", WireError.Code.startLine), ("HTTP/1.1 99 X\r\n\r\n", .startLine),
            ("HTTP/1.1 099 X\r\n\r\n", .status), ("HTTP/1.1 600 X\r\n\r\n", .status),
            ("HTTP/1.1 2000 X\r\n\r\n", .startLine),
            ("HTTP/1.1  200 X\r\n\r\n", .startLine), ("HTTP/2.0 200 X\r\n\r\n", .unsupportedVersion),
            ("http/1.1 200 X\r\n\r\n", .startLine), ("\r\nHTTP/1.1 200 X\r\n\r\n", .startLine),
            ("HTTP/1.1 200 X\u{0}\r\n\r\n", .startLine), ("HTTP/1.1 200 X\r\r\n\r\n", .lineEnding),
            ("HTTP/1.1 200 X\r\nA: b\r\n c\r\n\r\n", .obsoleteFolding), ("HTTP/1.1 200 X\r\nA : b\r\n\r\n", .fieldName),
            ("HTTP/1.1 200 X\r\nA: b\nB: c\r\n\r\n", .lineEnding), ("HTTP/1.1 200 X\r\nA: b\u{0}\r\n\r\n", .fieldValue),
            ("HTTP/1.1 200 X\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", .duplicateContentLength),
            ("HTTP/1.1 200 X\r\nContent-Length: 5, 5\r\n\r\n", .contentLength),
            (
                "HTTP/1.1 200 X\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                .transferEncodingWithContentLength
            ),
            ("HTTP/1.0 200 X\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInHTTP10),
            ("HTTP/1.1 204 X\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncoding),
            ("HTTP/1.1 200 X\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .unknownTransferCoding),
            ("HTTP/1.0 103 X\r\n\r\n", .status), ("HTTP/1.1 100 X\r\nConnection: close\r\n\r\n", .status),
            ("HTTP/1.1 200 X\r\nContent-Length: 5\t\r\n\r\n", .contentLength), ("<html>", .startLine),
        ])
    func refused(text: String, code: WireError.Code) {
        #expect(Wire.parseResponse(text).outcome == .refused(code))
        #expect(Wire.dripResponse(Wire.bytes(text), requestWasHead: false).outcome == .refused(code))
    }

    @Test("without an end is refused at the limit") func endless() {
        #expect(
            Wire.parseResponse("HTTP/1.1 200 " + String(repeating: "a", count: 40_000)).outcome
                == .refused(.headTooLong))
    }
}
