import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// No socket outlives `websocket.max_lifetime`.
@Suite(.blocking) struct SocketLifetimeTests {
    private static let paths = ["/api/runtime/agent", "/api/runtime/echo", "/ws", "/token"]

    private static func yaml(_ upstream: RecordingUpstream, more: String = "") -> String {
        """
        routes:
          - {path: /ws, upstream: '\(upstream.url)', require: token+session, websocket: true}
          - {path: /token, upstream: '\(upstream.url)', require: token, websocket: true}
        \(more)
        """
    }

    private func sockets(_ gateway: any GatewayUnderTest, _ user: LoggedIn, _ token: String) throws -> [WebSocketProbe]
    {
        try Self.paths.map { path in
            let session = path == "/token" ? "" : "&session_id=\(user.sessionID)"
            return try gateway.opened("\(path)?access_token=\(token)\(session)")
        }
    }

    @Test("Sockets end with it however often their token is refreshed, relayed ones too; new ones have all of it again")
    func lifetime() async throws {
        let upstream = try RecordingUpstream(script: RecordingUpstream.mirror)
        defer { upstream.stop() }
        let limited = try await GatewayInProcess.start(Self.yaml(upstream, more: "websocket: {max_lifetime: 10m}"))
        defer { limited.stop() }
        let unlimited = try await GatewayInProcess.start(Self.yaml(upstream))
        defer { unlimited.stop() }

        let other = try unlimited.login(.ada)
        let kept = try sockets(unlimited, other, other.token)
        let ada = try limited.login(.ada)
        let open = try sockets(limited, ada, ada.token)
        limited.clock.advance(by: .seconds(9 * 60))
        let refreshed = try limited.refresh(ada.refreshToken)
        let token = try #require(refreshed.json["access_token"] as? String)
        try expectOpen(open)
        for clock in [limited.clock, unlimited.clock] { clock.advance(by: .seconds(61)) }
        let (took, ends) = try seconds { try open.map { try $0.closing() } }
        #expect(ends.allSatisfy { $0 == "4401 token_expired" } && took < .promptly, "\(ends) after \(took) s")
        for probe in open { #expect(try probe.next() == nil) }
        for probes in [try sockets(limited, ada, token), kept] { try expectOpen(probes) }
    }

    @Test("A client that is gone before its 101 leaves no lease", arguments: ["/api/runtime/echo", "/ws"])
    func gone(path: String) async throws {
        let upstream = try RecordingUpstream(script: RecordingUpstream.mirror)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.yaml(upstream, more: "limits: {enabled: false}"),
            environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:0"])
        defer { gateway.stop() }
        let admin = try #require(gateway.adminPort)
        let ada = try gateway.login(.ada)
        func leases() throws -> Int? {
            let socket = try RawSocket(port: admin)
            try socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let line = try socket.response().text.split(separator: "\n").first { $0.hasPrefix("gatehouse_leases ") }
            return line.flatMap { Int($0.dropFirst("gatehouse_leases ".count)) }
        }
        let kept = try gateway.opened("\(path)?access_token=\(ada.token)&session_id=\(ada.sessionID)")
        #expect(try leases() == 1)
        let fields = (WebSocketProbe.handshake + [("Host", "localhost")]).map { "\($0): \($1)\r\n" }.joined()
        for _ in 0..<60 {
            let socket = try RawSocket(port: gateway.port)
            let target = "\(path)?access_token=\(ada.token)&session_id=\(ada.sessionID)"
            try socket.send("GET \(target) HTTP/1.1\r\n\(fields)\r\n")
            socket.resetWhenClosed()
        }
        #expect(try await eventually { try leases() == 1 })
        try kept.send(text: "still here")
    }

    /// Each of ``paths`` answers.
    private func expectOpen(_ probes: [WebSocketProbe]) throws {
        try probes[0].send(text: #"{"type":"intent","id":"a","intent":"echo"}"#)
        #expect(try probes[0].message()?.json["id"] as? String == "a")
        for probe in probes.dropFirst() {
            try probe.send(text: "still here")
            #expect(try probe.message()?.payload.count ?? 0 >= "still here".utf8.count)
        }
    }
}
