import Foundation
import PostgresForTests
import Testing

/// Agents at two nodes of one store.
@Suite(.enabled(if: PrivatePostgres.isAvailable, "needs PostgreSQL"), .blocking)
struct AgentTwoNodeTests {
    @Test("A grant that is ended at one node cuts its stream at the other within a second, and its sessions are gone")
    func grant() async throws {
        let upstream = try RecordingUpstream { request, stream in
            if request.target.hasSuffix("/stream") {
                try stream.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n")
                _ = try? stream.readSome()
                return .close
            }
            try stream.send("HTTP/1.1 200 OK\r\nMcp-Session-Id: s1\r\nContent-Length: 2\r\n\r\nok")
            return .keep
        }
        defer { upstream.stop() }
        let nodes = try await TwoNodes<GatewayInProcess>(more: Agent.configuration(upstream.url))
        defer { nodes.stop() }
        var agent = try Agent(nodes.a)
        agent.resource = "http://gatehouse.test/mcp"
        agent.origin = "http://gatehouse.test"
        let ada = try nodes.a.login(.ada)
        let tokens = try agent.tokens(ada)
        var there = Agent(nodes.b, clientID: agent.clientID)
        there.resource = agent.resource
        // A session that one node has bound is known to the other.
        expectStatus(try agent.call(tokens.access), 200)
        expectStatus(try there.call(tokens.access, headers: [("Mcp-Session-Id", "s1")]), 200)
        let stream = try RawSocket(port: nodes.b.port)
        try stream.send("GET /mcp/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(tokens.access)\r\n\r\n")
        _ = try stream.read(100)
        let grants = try nodes.a.request("GET", "/api/auth/grants", headers: [ada.bearer]).json["grants"]
        let id = (grants as? [[String: Any]])?.first?["id"] as? String ?? ""
        expectStatus(try nodes.a.request("DELETE", "/api/auth/grants/\(id)", headers: [ada.bearer]), 204)
        let ended = ContinuousClock.now
        #expect(!String(decoding: try stream.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        let time = ContinuousClock.now - ended
        #expect(time < .promptly, "\(time)")
        expectStatus(try there.call(tokens.access), 401)
        let again = try agent.tokens(ada).access
        expectStatus(try there.call(again, headers: [("Mcp-Session-Id", "s1")]), 404)
    }
}
