import BasicsForTests
import Foundation
import PostgresForTests
import Testing

/// Agents at two nodes of one store.
@Suite(.enabled(if: PrivatePostgres.isAvailable, "needs PostgreSQL"), .blocking)
struct AgentTwoNodeTests {
    @Test("A grant that is ended at one node cuts its stream at the other within a second, and its sessions are gone")
    func grant() async throws {
        let upstream = try RecordingUpstream.ofAgents()
        defer { upstream.stop() }
        let nodes = try await TwoNodes<GatewayInProcess>(more: Agent.configuration(upstream.url))
        defer { nodes.stop() }
        let issuer = "http://gatehouse.test"
        let agent = try Agent(nodes.a, issuer: issuer)
        let ada = try nodes.a.login(.ada)
        let tokens = try agent.tokens(ada)
        let there = Agent(nodes.b, clientID: agent.clientID, issuer: issuer)
        // A session that one node has bound is known to the other.
        expectStatus(try agent.call(tokens.access, headers: [("X-Open", "s1")]), 200)
        expectStatus(try there.call(tokens.access, headers: [("Mcp-Session-Id", "s1")]), 200)
        let stream = try RawSocket(port: nodes.b.port)
        try stream.send("GET /mcp/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(tokens.access)\r\n\r\n")
        _ = try stream.read(100)
        try nodes.a.endFirstGrant(ada)
        let ended = ContinuousClock.now
        #expect(!String(decoding: try stream.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        let time = ContinuousClock.now - ended
        #expect(time < .promptly, "\(time)")
        expectStatus(try there.call(tokens.access), 401)
        let again = try agent.tokens(ada).access
        expectStatus(try there.call(again, headers: [("Mcp-Session-Id", "s1")]), 404)
    }

    @Test("A request of a protocol session that memory knows asks the store for nothing: it passes while there is none")
    func withoutStore() async throws {
        let postgres = try PrivatePostgres()
        defer { try? postgres.remove() }
        let upstream = try RecordingUpstream.ofAgents()
        defer { upstream.stop() }
        let nodes = try await TwoNodes<GatewayInProcess>(
            on: postgres, more: Agent.configuration(upstream.url, more: "state: {grace: 10m}"))
        defer { nodes.stop() }
        let issuer = "http://gatehouse.test"
        let agent = try Agent(nodes.a, issuer: issuer)
        let there = Agent(nodes.b, clientID: agent.clientID, issuer: issuer)
        let token = try agent.tokens(try nodes.a.login(.ada)).access
        func call(_ agent: Agent, _ id: String) throws -> Int {
            try agent.call(token, headers: [("Mcp-Session-Id", id)]).status
        }
        for id in ["s1", "s2"] { expectStatus(try agent.call(token, headers: [("X-Open", id)]), 200) }
        // The other node has looked up one of them.
        #expect(try call(there, "s1") == 200)
        try postgres.stop()
        // Controls: what has to be looked up, and what has to be bound, fails.
        #expect(try await eventually { try call(there, "s2") == 503 })
        #expect(try await eventually { try agent.call(token, headers: [("X-Open", "s3")]).status >= 500 })
        upstream.forget()
        for _ in 0..<50 {
            #expect(try call(agent, "s1") == 200)
            #expect(try call(agent, "s2") == 200)
            #expect(try call(there, "s1") == 200)
        }
        #expect(upstream.requests.count == 150)
    }
}
