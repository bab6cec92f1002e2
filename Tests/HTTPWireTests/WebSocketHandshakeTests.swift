import HTTPWire
import NIOCore
import Testing

@Suite("A WebSocket handshake")
struct WebSocketHandshakeTests {
    static let sound = [
        "Host: a", "Upgrade: websocket", "Connection: keep-alive, Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ]

    private func verdict(line: String = "GET /chat HTTP/1.1", _ fields: [String]) throws -> String {
        let text = ([line] + fields).joined(separator: "\r\n") + "\r\n\r\n"
        switch WebSocketHandshake.judge(try #require(Wire.parse(text).value)) {
        case .accepted: return "accepted"
        case .notOffered: return "not offered"
        case .unsupportedVersion: return "426"
        case .refused: return "400"
        }
    }

    private func replacing(_ prefix: String, with lines: [String]) -> [String] {
        Self.sound.filter { !$0.hasPrefix(prefix) } + lines
    }

    @Test("is accepted if it is complete") func accepted() throws {
        #expect(try verdict(Self.sound) == "accepted")
    }

    @Test(
        "is judged by each of its fields",
        arguments: [
            ("Upgrade", [], "not offered"), ("Upgrade", ["Upgrade: WebSocket\t"], "accepted"),
            ("Upgrade", ["Upgrade: h2c"], "400"),
            ("Upgrade", ["Upgrade: websocket, h2c"], "400"),
            ("Upgrade", ["Upgrade: websocket", "Upgrade: websocket"], "400"),
            ("Upgrade", ["Upgrade: TLS/1.0"], "400"), ("Upgrade", ["Upgrade:"], "400"),
            ("Connection", [], "400"), ("Connection", ["Connection: keep-alive"], "400"),
            ("Connection", ["Connection: UPGRADE"], "accepted"),
            ("Connection", ["Connection: x", "Connection: upgrade"], "accepted"),
            ("Connection", ["Connection: upgraded"], "400"),
            ("Sec-WebSocket-Version", [], "426"), ("Sec-WebSocket-Version", ["Sec-WebSocket-Version: 8"], "426"),
            ("Sec-WebSocket-Version", ["Sec-WebSocket-Version: 13, 8"], "426"),
            ("Sec-WebSocket-Version", ["Sec-WebSocket-Version: 013"], "426"),
            ("Sec-WebSocket-Version", ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 13"], "426"),
            ("Sec-WebSocket-Key", [], "400"), ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA"], "400"),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA="], "400"),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEC=="], "accepted"),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AAAAAAAAAA-AAAAAAAAAAA=="], "400"),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==AAAA"], "400"),
            (
                "Sec-WebSocket-Key",
                ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="], "400"
            ),
            ("X", ["Content-Length: 5"], "400"), ("X", ["Transfer-Encoding: chunked"], "400"),
            ("X", ["Content-Length: 0"], "accepted"),
        ])
    func fields(prefix: String, lines: [String], expected: String) throws {
        #expect(try verdict(replacing(prefix, with: lines)) == expected)
    }

    @Test("is only GET and HTTP/1.1", arguments: ["POST / HTTP/1.1", "GET / HTTP/1.0", "HEAD / HTTP/1.1"])
    func lines(line: String) throws {
        #expect(try verdict(line: line, Self.sound) == "400")
    }

    @Test("is answered with the digest of key and GUID in base64") func accept() throws {
        let head = try #require(
            Wire.parse("GET / HTTP/1.1\r\n" + Self.sound.joined(separator: "\r\n") + "\r\n\r\n").value)
        guard case .accepted(let key) = WebSocketHandshake.judge(head) else {
            Issue.record("refused")
            return
        }
        // The digest of RFC 6455 section 1.3 is passed in instead of computed.
        let digest: [UInt8] = [
            0xB3, 0x7A, 0x4F, 0x2C, 0xC0, 0x62, 0x4F, 0x16, 0x90, 0xF6, 0x46, 0x06, 0xCF, 0x38, 0x59, 0x45, 0xB2, 0xBE,
            0xC4, 0xEA,
        ]
        let accept = WebSocketHandshake.accept(key, of: head) { input in
            input == Array("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8) ? digest : []
        }
        #expect(accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(
        "is judged on the upstream's side too",
        arguments: [
            ("101", ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: right"], true),
            (
                "101",
                [
                    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: right",
                    "Sec-WebSocket-Protocol: v2",
                ], true
            ),
            ("200", ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: right"], false),
            ("101", ["Upgrade: h2c", "Connection: Upgrade", "Sec-WebSocket-Accept: right"], false),
            ("101", ["Upgrade: websocket", "Sec-WebSocket-Accept: right"], false),
            ("101", ["Upgrade: websocket", "Connection: Upgrade"], false),
            ("101", ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: Right"], false),
            (
                "101",
                [
                    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: right",
                    "Sec-WebSocket-Accept: right",
                ], false
            ),
            (
                "101",
                [
                    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: right",
                    "Sec-WebSocket-Protocol: v3",
                ], false
            ),
            (
                "101",
                [
                    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: right",
                    "Sec-WebSocket-Extensions: x",
                ], false
            ),
        ])
    func answer(status: String, fields: [String], isSound: Bool) throws {
        let fieldsOfRequest = Self.sound + ["Sec-WebSocket-Protocol: v1, v2"]
        let request = try #require(
            Wire.parse("GET / HTTP/1.1\r\n" + fieldsOfRequest.joined(separator: "\r\n") + "\r\n\r\n").value)
        let answer = try #require(
            Wire.parseResponse("HTTP/1.1 \(status) X\r\n" + fields.joined(separator: "\r\n") + "\r\n\r\n").value)
        let fault = WebSocketHandshake.faultOfAnswer(answer, to: request, accept: "right")
        #expect((fault == nil) == isSound)
    }
}
