import Foundation
import Testing

/// The resources of a client are freed within a second of its leaving, for every protocol and every way to leave;
/// without that they would be held for a minute and longer.
@Suite(.enabled(if: HTTP2Script.canRun, "needs python3 with h2, and openssl"), .blocking)
struct ClientLeavesTests {
    private static let transports = ["h2", "tls", "plain"]
    private static let ways = [
        "h2": ["fin", "close_notify", "close", "reset", "goaway"], "tls": ["fin", "close_notify", "close", "reset"],
        "plain": ["fin", "close", "reset"],
    ]

    private static func server(_ transport: String, in place: URL, more: String = "") throws -> String {
        guard transport != "plain" else { return more.isEmpty ? "" : "server: {\(more)}" }
        let tls = try HTTP2Script.tls(in: place)
        return (more.isEmpty ? tls : tls.replacing("server: {", with: "server: {\(more), "))
            + "\ntokens: {issuer: \"https://localhost\"}"
    }

    @Test("Reservations, relayed sockets, streams and pending requests go with their client", arguments: transports)
    func held(_ transport: String) async throws {
        let place = try GatewayProcess.makeDirectory()
        let upstream = try SocketAddressing.unusedPort()
        let gateway = try await GatewayInProcess.start(
            """
            \(try Self.server(transport, in: place))
            limits: {sockets_per_session: 16}
            routes:
              - {path: /open, upstream: "http://127.0.0.1:\(upstream)", require: none}
              - {path: /relayed, upstream: "http://127.0.0.1:\(upstream)", require: token+session, websocket: true}
            """, directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run(
            "client_leaves", gateway, ["held", "\(upstream)", transport] + TestUser.ada.credentials)
        #expect(Set(found.keys) == Set(Self.ways[transport] ?? []))
        for (way, times) in found {
            let times = times as? [String: Double] ?? [:]
            #expect(times["place"] != nil && times["ws"] != nil && times["events"] != nil)
            if transport == "h2" { #expect(times["pending"] != nil) }
            for (name, seconds) in times { #expect(seconds < .promptly, "\(transport) \(way) \(name): \(seconds) s") }
        }
    }

    @Test("Connections whose clients have left make room for others at once", arguments: transports)
    func room(_ transport: String) async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let place = try GatewayProcess.makeDirectory()
        let gateway = try await GatewayInProcess.start(
            """
            \(try Self.server(transport, in: place, more: "max_connections: 12"))
            limits: {enabled: false}
            routes: [{path: /, upstream: "\(upstream.url)", require: none}]
            """, users: [], directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("client_leaves", gateway, ["room", "12", transport])
        #expect(Set(found.keys) == Set(Self.ways[transport] ?? []))
        for (way, seconds) in found {
            #expect((seconds as? Double ?? 99) < .promptly, "\(transport) \(way): \(seconds) s")
        }
    }

    @Test("Connections are counted, and not their streams")
    func count() async throws {
        let place = try GatewayProcess.makeDirectory()
        let (upstream, admin) = (try SocketAddressing.unusedPort(), try SocketAddressing.unusedPort())
        let gateway = try await GatewayInProcess.start(
            """
            \(try Self.server("h2", in: place))
            routes: [{path: /open, upstream: "http://127.0.0.1:\(upstream)", require: none}]
            """, users: [], environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:\(admin)"], directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("client_leaves", gateway, ["count", "\(upstream)", "\(admin)"])
        #expect(found["began"] as? Int == 5 && found["open"] as? String == "1", "\(found)")
    }

    @Test("After GOAWAY a stream under way is answered; then, or at once where there is none, the connection closes")
    func goaway() async throws {
        let place = try GatewayProcess.makeDirectory()
        let upstream = try SocketAddressing.unusedPort()
        let gateway = try await GatewayInProcess.start(
            """
            \(try Self.server("h2", in: place))
            routes: [{path: /open, upstream: "http://127.0.0.1:\(upstream)", require: none}]
            """, users: [], directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("client_leaves", gateway, ["goaway", "\(upstream)"])
        for name in ["idle", "asked", "busy_closed"] {
            #expect((found[name] as? Double ?? 99) < .promptly, "\(name): \(found[name] ?? "nothing")")
        }
        let answer = found["busy"] as? [Any] ?? []
        #expect(answer.first as? Int == 200 && answer.last as? String == "later", "\(answer)")
    }
}
