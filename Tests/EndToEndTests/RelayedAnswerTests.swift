import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// Upgrades that the upstream answers with something else than 101: what comes then is under the lease that the socket
/// would have had, with any status, and it keeps the socket's place.
@Suite(.blocking) struct RelayedAnswerTests {
    private static let statuses = ["200", "404", "502"]

    /// Half a minute of parts, as events or as plain text; the status is the last segment of the path.
    private static let script: RecordingUpstream.Script = { request, stream in
        let parts = request.target.split(separator: "?")[0].split(separator: "/")
        let type = parts.contains("events") ? "text/event-stream" : "text/plain"
        try stream.send(
            "HTTP/1.1 \(parts.last ?? "") X\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<600 {
            try stream.send("9\r\ndata: x\n\n\r\n")
            Thread.sleep(forTimeInterval: 0.05)
        }
        try stream.send("0\r\n\r\n")
        return .close
    }

    private static func yaml(_ upstream: RecordingUpstream, _ more: String = "") -> String {
        """
        routes: [{path: /ws, upstream: "\(upstream.url)", require: token+session, websocket: true}]
        \(more)
        """
    }

    /// An upgrade whose answer has begun.
    private static func begin(_ gateway: any GatewayUnderTest, _ path: String, _ user: LoggedIn) throws -> RawSocket {
        let socket = try RawSocket(port: gateway.port)
        var head = "GET \(path)?\(user.query) HTTP/1.1\r\nHost: h\r\n"
        for (name, value) in WebSocketProbe.handshake { head += "\(name): \(value)\r\n" }
        try socket.send(head + "\r\n")
        let status = path.split(separator: "/").last ?? ""
        let first = String(decoding: try socket.read(12), as: UTF8.self)
        guard first == "HTTP/1.1 \(status)" else { throw RawSocket.Failure(description: first) }
        return socket
    }

    private static func endsUnfinished(_ socket: RawSocket) throws -> Bool {
        let text = String(decoding: try socket.readToEnd(), as: UTF8.self)
        return text.contains("data: x") && !text.hasSuffix("0\r\n\r\n")
    }

    /// Reads for longer than what was on its way before can last.
    private static func expectMore(_ socket: RawSocket) throws {
        let end = ContinuousClock.now + .milliseconds(300)
        while ContinuousClock.now < end { _ = try socket.read(14) }
    }

    @Test("A logout ends them and frees their places; another's go on")
    func logout() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.yaml(upstream, "limits: {sockets_per_session: 6, sockets_per_user: 6}"))
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let paths = Self.statuses.flatMap { ["/ws/events/\($0)", "/ws/text/\($0)"] }
        let answers = try paths.map { try Self.begin(gateway, $0, ada) }
        let other = try Self.begin(gateway, "/ws/events/200", bob)
        // Each of the six has its place for as long as it lasts.
        #expect(try gateway.socket("/ws/text/200?\(ada.query)").answer.status == 429)
        #expect(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]).status == 204)
        let (took, unfinished) = try seconds { try answers.map { try Self.endsUnfinished($0) } }
        #expect(took < .promptly && unfinished == paths.map { _ in true }, "\(took) s: \(unfinished)")
        #expect(try await eventually { upstream.openConnections == 1 })
        // The user's places are free again, in another session.
        _ = try Self.begin(gateway, "/ws/events/200", try gateway.login(.ada))
        try Self.expectMore(other)
    }

    @Test("The token's expiry and websocket.max_lifetime end them", arguments: ["expiry", "lifetime"])
    func time(_ end: String) async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.yaml(
                upstream,
                end == "expiry"
                    ? "tokens: {access_token_lifetime: 15m, clock_skew: 0s}" : "websocket: {max_lifetime: 5m}"))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let paths = ["events", "text"].flatMap { name in Self.statuses.map { "/ws/\(name)/\($0)" } }
        let answers = try paths.map { try Self.begin(gateway, $0, ada) }
        let limit = Duration.seconds(end == "expiry" ? 15 * 60 : 5 * 60)
        gateway.clock.advance(by: limit - .seconds(60))
        try Self.expectMore(answers[0])
        gateway.clock.advance(by: .seconds(61))
        let (took, unfinished) = try seconds { try answers.map { try Self.endsUnfinished($0) } }
        #expect(took < .promptly && unfinished == [Bool](repeating: true, count: 6), "\(took) s: \(unfinished)")
        #expect(try await eventually { upstream.openConnections == 0 })
    }
}
