import HTTPWire
import NIOCore
import Testing

@Suite("A request head that is refused")
struct RequestRefusalTests {
    /// Field lines after `POST /x HTTP/1.1` and a valid Host.
    static let fields: [(String, WireError.Code)] = [
        ("Content-Length: 5\r\nContent-Length: 5", .duplicateContentLength),
        ("Content-Length: 5\r\nContent-Length: 6", .duplicateContentLength),
        ("Content-Length: 5, 5", .contentLength), ("Content-Length: +5", .contentLength),
        ("Content-Length: -1", .contentLength), ("Content-Length: 0x5", .contentLength),
        ("Content-Length: 5_0", .contentLength), ("Content-Length:  5", .contentLength),
        ("Content-Length:\t5", .contentLength), ("Content-Length: 5 ", .contentLength),
        ("Content-Length: 5 5", .contentLength), ("Content-Length: 05", .contentLength),
        ("Content-Length: 5;", .contentLength), ("Content-Length:", .contentLength),
        ("Content-Length: 9223372036854775808", .contentLength),
        ("Content-Length: 18446744073709551616", .contentLength),
        ("Content-Length: 99999999999999999999999", .contentLength),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", .transferEncodingWithContentLength),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", .transferEncodingWithContentLength),
        ("Transfer-Encoding: chunked\r\nContent-Length: 0", .transferEncodingWithContentLength),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .transferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", .transferEncoding),
        ("Transfer-Encoding: chunked, chunked", .transferEncoding),
        ("Transfer-Encoding: chunked, identity", .transferEncoding),
        ("Transfer-Encoding: chunked, gzip", .transferEncoding), ("Transfer-Encoding: identity", .transferEncoding),
        ("Transfer-Encoding: chunked;q=1", .transferEncoding), ("Transfer-Encoding: \"chunked\"", .transferEncoding),
        ("Transfer-Encoding:", .transferEncoding), ("Transfer-Encoding: ,chunked", .transferEncoding),
        ("Transfer-Encoding: chunked,", .transferEncoding), ("Transfer-Encoding:  chunked", .transferEncoding),
        ("Transfer-Encoding:\tchunked", .transferEncoding), ("Transfer-Encoding: chunked ", .transferEncoding),
        ("Transfer-Encoding: \u{0b}chunked", .fieldValue), ("Transfer-Encoding: chun\u{ff}ked", .transferEncoding),
        ("Transfer-Encoding: xchunked", .unknownTransferCoding), ("Transfer-Encoding: gzip", .unknownTransferCoding),
        ("Transfer-Encoding: gzip, chunked", .unknownTransferCoding),
        ("Transfer-Encoding : chunked", .fieldName), ("Transfer-Encoding\t: chunked", .fieldName),
        ("T-E : chunked", .fieldName), ("X: a\r\n b", .obsoleteFolding), ("X: a\r\n\tb", .obsoleteFolding),
        ("X: a\nY: b", .lineEnding), ("X: a\rY: b", .lineEnding), ("X: a\r\r\nY: b", .lineEnding),
        ("X: a\u{0}b", .fieldValue), ("X: a\u{1}b", .fieldValue), ("X: a\u{7f}b", .fieldValue),
        ("X: a\u{1b}b", .fieldValue), (": a", .fieldName), ("X Y: a", .fieldName), ("X\u{0}: a", .fieldName),
        ("X@: a", .fieldName), ("X(: a", .fieldName), ("X\u{e9}: a", .fieldName), ("X", .fieldName),
        ("X/Y: a", .fieldName), ("{X}: a", .fieldName),
        ("Host: a.example", .duplicateHost), ("host: b.example", .duplicateHost),
        ("Connection: a b", .connection), ("Connection: keep-alive\t", .connection), ("Connection: a,\tb", .connection),
        ("Connection: a,,b", .connection), ("Connection: ,", .connection),
        ("Connection: \"close\"", .connection), ("Connection: close;x", .connection),
        ("Connection: " + Array(repeating: "a", count: 33).joined(separator: ","), .connection),
        ("Expect: 200-ok", .expectation), ("Expect: 100-continue, x", .expectation),
    ]

    @Test("for one of its fields", arguments: fields)
    func field(lines: String, code: WireError.Code) {
        let text = Wire.request(lines)
        #expect(Wire.parse(text).outcome == .refused(code))
        #expect(Wire.drip(Wire.bytes(text)).0.outcome == .refused(code))
    }

    /// The text before ` HTTP/1.1` and a valid Host.
    static let lines: [(String, WireError.Code)] = [
        ("get /", .method), ("Get /", .method), (" GET /", .method), ("G@T /", .method), ("GET\t/", .method),
        ("\u{e9}GET /", .method), ("\u{0}GET /", .method), (String(repeating: "A", count: 33) + " /", .method),
        ("GET  /", .target), ("GET /a b", .version), ("GET / ", .version), ("GET /a\u{0}", .target),
        ("GET /a#f", .target),
        ("GET /a\\b", .target), ("GET /a\"", .target), ("GET /<", .target), ("GET />", .target), ("GET /^", .target),
        ("GET /`", .target), ("GET /{", .target), ("GET /|", .target), ("GET /}", .target), ("GET /\u{e9}", .target),
        ("GET /\u{7f}", .target), ("GET /a\tb", .target), ("GET *", .target), ("GET a", .target), ("GET ?a", .target),
        ("GET ftp://a.example/", .target), ("GET http:/a", .target), ("GET http:///x", .target),
        ("GET http://u@a.example/", .target), ("GET http://b.example/", .hostMismatch),
        ("GET http://a.example:80/", .hostMismatch), ("GET a.example:80", .target), ("OPTIONS a", .target),
        ("CONNECT /", .target), ("CONNECT a.example", .target), ("CONNECT a.example:", .target),
        ("CONNECT http://a.example/", .target), ("OPTIONS **", .target),
    ]

    @Test("for its request line", arguments: lines)
    func line(start: String, code: WireError.Code) {
        let text = start + " HTTP/1.1\r\nHost: a.example\r\n\r\n"
        #expect(Wire.parse(text).outcome == .refused(code))
        #expect(Wire.drip(Wire.bytes(text)).0.outcome == .refused(code))
    }

    @Test(
        "for its version",
        arguments: [
            ("HTTP/2.0", WireError.Code.unsupportedVersion), ("HTTP/1.2", .unsupportedVersion),
            ("HTTP/0.9", .unsupportedVersion),
            ("HTTP/3.0", .unsupportedVersion), ("HTTP/1.10", .version), ("HTTP/11", .version), ("http/1.1", .version),
            ("HTTP/1,1", .version), ("HTTP /1.1", .version), ("HTTPS/1.1", .version), ("HTTP/1.1 ", .version),
            ("", .version),
            ("ICE/1.0", .version), ("HTTP/-1", .version),
        ])
    func version(_ version: String, code: WireError.Code) {
        #expect(Wire.parse("GET / \(version)\r\nHost: a\r\n\r\n").outcome == .refused(code))
    }

    @Test(
        "for its Host",
        arguments: [
            "", "a@b", "a, b", "a b", "a:", "a:0", "a:65536", "a:99999999", "a:8o", "a:80:80", "http://a", "a/b", "a?b",
            "[::1", "::1", "[]", "[1]", "[::g]", "[::1]x", "[fe80::1%25eth0]", "a%2eb", "\u{e9}", "a,b", "*", "a;b",
            ":80",
        ])
    func host(_ host: String) {
        #expect(Wire.parse("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").outcome == .refused(.host))
    }

    @Test("because HTTP/1.1 requires Host") func missingHost() {
        #expect(Wire.parse("GET / HTTP/1.1\r\nAccept: x\r\n\r\n").outcome == .refused(.missingHost))
        #expect(Wire.parse("GET http://a/ HTTP/1.1\r\n\r\n").outcome == .refused(.missingHost))
    }

    @Test("because HTTP/1.0 has no Transfer-Encoding") func transferEncodingInHTTP10() {
        let text = "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(Wire.parse(text).outcome == .refused(.transferEncodingInHTTP10))
    }

    @Test("with 505 for the preface of HTTP/2") func preface() {
        #expect(Wire.parse("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").outcome == .refused(.unsupportedVersion))
    }

    @Test(
        "for empty lines, of which one is suffered",
        arguments: [
            ("\r\nGET / HTTP/1.0\r\n\r\n", Outcome.accepted), ("\r\n\r\nGET / HTTP/1.0\r\n\r\n", .refused(.lineEnding)),
            ("\nGET / HTTP/1.0\r\n\r\n", .refused(.method)), ("\rGET / HTTP/1.0\r\n\r\n", .refused(.lineEnding)),
            ("\r\n", .unfinished), ("\r", .unfinished), ("", .unfinished),
        ])
    func emptyLines(text: String, outcome: Outcome) {
        #expect(Wire.parse(text).outcome == outcome)
        #expect(Wire.drip(Wire.bytes(text)).0.outcome == outcome)
    }

    /// Heads that end with the bad byte: the parser must not wait for more.
    static let seen = [
        "g", "\u{16}\u{3}\u{1}", "GET /\u{0}", "GET  ", "GET / X", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nX ",
        "GET / HTTP/1.1\r\nHost: a\r\n ", "GET / HTTP/1.1\r\nHost: a\u{0}", "GET / HTTP/1.1\r\nHost: a\rb",
        "GET / HTTP/1.1\r\nHost: a@b\r\n", "POST / HTTP/1.1\r\nContent-Length: x\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: x\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n", "GET / HTTP/2.0\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\rX",
    ]

    @Test("when the bad byte arrives, not later", arguments: seen)
    func atOnce(text: String) {
        let bytes = Wire.bytes(text)
        guard case .refused = Wire.parse(text).outcome else {
            Issue.record("waited for more")
            return
        }
        #expect(Wire.drip(Wire.bytes(text)).taken == (text.hasPrefix("\u{16}") ? 1 : bytes.count))
        var buffer = ByteBuffer(bytes: bytes.dropLast())
        #expect(bytes.count == 1 || text.hasPrefix("\u{16}") || RequestHead.parse(&buffer).outcome == .unfinished)
    }

    @Test("stays refused when more bytes follow") func failureIsFinal() {
        var scanner = HeadScanner()
        var bad = Wire.buffer("GET / HTTP/1.1\nHost: a\r\n\r\n")
        #expect(scanner.feed(&bad).outcome == .refused(.version))
        var good = Wire.buffer("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(scanner.feed(&good).outcome == .refused(.version))
    }

    @Test("for its size, with the right status") func sizes() {
        let long = String(repeating: "a", count: 40_000)
        #expect(Wire.parse("GET /\(long)").outcome == .refused(.targetTooLong))
        #expect(Wire.parse("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)").outcome == .refused(.headTooLong))
        #expect(Wire.parse("GET / HTTP/1.1\r\nHost: a\r\n\(long)").outcome == .refused(.headTooLong))
        let many = (0...100).map { "X\($0): y\r\n" }.joined()
        #expect(Wire.parse("GET / HTTP/1.1\r\n\(many)\r\n").outcome == .refused(.tooManyFields))
        #expect(WireError(.targetTooLong, "").status == 414)
        #expect(WireError(.headTooLong, "").status == 431 && WireError(.tooManyFields, "").status == 431)
        #expect(WireError(.unknownTransferCoding, "").status == 501)
        #expect(WireError(.unsupportedVersion, "").status == 505)
        #expect(WireError(.host, "").status == 400)
    }

    @Test("takes time linear in its bytes, with one byte per packet") func linear() {
        let field = "X-Long: " + String(repeating: " ", count: 12_000) + String(repeating: "a ", count: 8_000) + "\r\n"
        let bytes = Wire.bytes("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n")
        let time = ContinuousClock().measure { #expect(Wire.drip(bytes).0.outcome == .accepted) }
        // Quadratic work would take four hundred million steps, which are minutes in a debug build.
        #expect(time < .seconds(30))
    }
}
