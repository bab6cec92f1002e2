import BasicsForTests
import Foundation
import Synchronization
import Testing

/// A client may say all it has to say at once, and that nothing more will come: it still gets its answer.
@Suite(.blocking) struct HalfClosedTests {
    private static let large = [UInt8](repeating: 0x7a, count: 1 << 20)

    /// The answer, and whether the gateway has closed behind it.
    private static func ask(
        _ gateway: any GatewayUnderTest, _ text: String
    ) throws -> (answer: RawResponse, isClosed: Bool) {
        let socket = try RawSocket(port: gateway.port)
        try socket.sendLast(Array(text.utf8))
        let answer = try socket.response()
        return (answer, try socket.isClosedByPeer())
    }

    private static func routes(_ upstream: RecordingUpstream) -> String {
        """
        limits: {enabled: false}
        routes:
          - {path: /open, upstream: "\(upstream.url)", require: none}
          - {path: /shut, upstream: "\(upstream.url)", require: token}
        """
    }

    @Test("An answer made on the spot")
    func onTheSpot() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        let post = "POST /shut HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
        let cases = [
            ("GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n", 404),
            ("GET /shut HTTP/1.1\r\nHost: h\r\n\r\n", 401),
            (post, 401),
        ]
        for (text, status) in cases {
            for _ in 0..<10 {
                let (answer, isClosed) = try Self.ask(gateway, text)
                expectStatus(answer, status, text)
                #expect(isClosed && answer.json["status"] as? Int == status)
            }
        }
        #expect(upstream.requests.isEmpty)
    }

    @Test("An upstream's answer, at once or late, small or large")
    func proxied() async throws {
        let upstream = try RecordingUpstream { request, stream in
            if request.target != "/open/quick" { Thread.sleep(forTimeInterval: 0.1) }
            guard request.target == "/open/large" else {
                try stream.send(RecordingUpstream.plainAnswer)
                return .keep
            }
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.large.count)\r\n\r\n")
            try stream.send(Self.large)
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        for path in ["/open/quick", "/open/late", "/open/large"] {
            for _ in 0..<5 {
                let got = try Self.ask(gateway, "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
                expectStatus(got.answer, 200, path)
                let isWhole = got.answer.body == (path == "/open/large" ? Self.large : Array("ok".utf8))
                #expect(isWhole && got.isClosed, "\(path): \(got.answer.body.count) bytes")
            }
            let post = "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
            expectStatus(try Self.ask(gateway, post).answer, 200, path)
            #expect(upstream.requests.last?.body == Array("abc".utf8))
        }
    }

    @Test("Every request that was sent before the end is answered, in order; what is no whole request is not")
    func pipelined() async throws {
        let upstream = try RecordingUpstream { request, stream in
            // The later ones are parsed while the first is still being answered.
            if request.target == "/open/1" { Thread.sleep(forTimeInterval: 0.2) }
            let isLarge = request.target == "/open/2"
            let body = isLarge ? Self.large : Array(request.target.utf8) + request.body
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            try stream.send(body)
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        let gets = (1...3).map { "GET /open/\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined()
        let post = "POST /open/4 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
        let expected = [Array("/open/1".utf8), Self.large, Array("/open/3".utf8), Array("/open/4abc".utf8)]
        for rest in ["", "GET /open/5 HTTP/1.1\r\nHo"] {
            let socket = try RawSocket(port: gateway.port)
            try socket.sendLast(Array((gets + post + rest).utf8))
            for body in expected {
                let answer = try socket.response()
                #expect(answer.status == 200 && answer.body == body, "\(answer.body.count) bytes")
            }
            #expect(try socket.isClosedByPeer())
        }
        #expect(upstream.requests.count == 8)
    }

    @Test("An answer that is under way when the client ends its side arrives whole, with a length or without one")
    func underWay() async throws {
        let upstream = try RecordingUpstream { request, stream in
            let isChunked = request.target == "/open/chunked"
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 20"
            try stream.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
            for _ in 0..<10 {
                try stream.send(isChunked ? "2\r\nab\r\n" : "ab")
                Thread.sleep(forTimeInterval: 0.1)
            }
            if isChunked { try stream.send("0\r\n\r\n") }
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        for path in ["/open/length", "/open/chunked"] {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            // The head has come: the answer has begun.
            let first = try socket.read(15)
            socket.finishSending()
            let text = String(decoding: first + (try socket.readToEnd()), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 200 OK"), "\(path): \(text)")
            #expect(text.components(separatedBy: "ab").count == 11, "\(path): \(text)")
        }
    }

    /// What an upstream has been sent over a socket.
    private final class Heard: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    @Test("The last bytes of a relayed socket reach the upstream")
    func relayed() async throws {
        let heard = Heard()
        let upstream = try RecordingUpstream { _, stream in
            try stream.send(RecordingUpstream.upgradeAnswer)
            while case let bytes = try stream.readSome(), !bytes.isEmpty {
                heard.bytes.withLock { $0 += bytes }
            }
            return .close
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /ws, upstream: \"\(upstream.url)\", require: none, websocket: true}]", users: [])
        defer { gateway.stop() }
        for count in [1, 1_000, 100_000] {
            let last = WebSocketProbe.frame(2, [UInt8](repeating: 7, count: count))
            heard.bytes.withLock { $0 = [] }
            let client = try gateway.opened("/ws")
            try client.socket.sendLast(last)
            let isWhole = try await eventually { heard.bytes.withLock { $0 == last } }
            #expect(isWhole, "\(count)")
            #expect(try client.next() == nil)
        }
    }
}
