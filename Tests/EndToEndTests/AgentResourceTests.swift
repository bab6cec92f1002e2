import Foundation
import GatewayForTests
import Testing

/// The gate of a resource: protocol sessions, streams, origins, personal access tokens.
@Suite(.blocking) struct AgentResourceTests {
    /// Fields and body of an answer, without what differs between any two.
    private static func bytes(_ answer: RawResponse) -> String {
        let id = answer.json["request_id"] as? String ?? ""
        let fields = answer.fields.filter { !["date", "x-request-id"].contains($0.name.lowercased()) }
        let lines = fields.map { "\($0.name): \($0.value)" } + [answer.text]
        return lines.joined(separator: "\n").replacingOccurrences(of: id, with: "")
    }

    /// An event stream of the resource, of which the first event has been read.
    static func stream(_ gateway: GatewayInProcess, _ token: String) throws -> RawSocket {
        let stream = try RawSocket(port: gateway.port)
        try stream.send("GET /mcp/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n")
        try stream.read(through: "data: 1\n\n\r\n")
        return stream
    }

    /// Whether a stream was cut: it has ended, and not in order.
    static func isCut(_ stream: RawSocket) throws -> Bool {
        !String(decoding: try stream.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n")
    }

    @Test("A protocol session belongs to its owner: everybody else gets the same 404 as for an unknown one")
    func ownership() async throws {
        let world = try await AgentWorld(.ofAgents())
        defer { world.stop() }
        let (gateway, upstream, agent, ada) = (world.gateway, world.upstream, world.agent, world.ada)
        let bob = try gateway.login(.bob)
        let (mine, theirs) = (try agent.tokens(ada).access, try agent.tokens(bob).access)
        let other = try Agent(gateway).tokens(ada).access
        func call(
            _ token: String, _ ids: [String], _ more: [(String, String)] = [], method: String = "POST"
        ) throws -> RawResponse {
            try agent.call(token, method, headers: ids.map { ("Mcp-Session-Id", $0) } + more)
        }
        expectStatus(try call(mine, [], [("X-Open", "s1")]), 200)
        expectStatus(try call(mine, ["s1"]), 200)
        upstream.forget()
        let foreign = try call(theirs, ["s1"])
        #expect(foreign.status == 404 && foreign.code == "not_found")
        for id in ["nothing", "s0", String(repeating: "a", count: 300)] {
            let unknown = try call(theirs, [id])
            #expect(unknown.status == 404 && Self.bytes(foreign) == Self.bytes(unknown), "\(id)")
        }
        expectStatus(try call(other, ["s1"]), 404)
        expectStatus(try call(mine, ["s1", "s1"]), 400)
        expectStatus(try gateway.request("POST", "/mcp", headers: [("Mcp-Session-Id", "s1")], body: "{}"), 401)
        #expect(upstream.requests.isEmpty)
        // An id that already belongs to another caller is not handed on.
        let stolen = try call(theirs, [], [("X-Open", "s1")])
        #expect(stolen.status == 502 && stolen["mcp-session-id"] == nil)
        // Revisions without sessions: the field is neither read nor forwarded.
        upstream.forget()
        expectStatus(try call(theirs, ["s1"], [("MCP-Protocol-Version", "2026-07-28")]), 200)
        #expect(upstream.requests.last?["mcp-session-id"] == nil && upstream.requests.count == 1)
        // DELETE ends it.
        expectStatus(try call(theirs, ["s1"], method: "DELETE"), 404)
        expectStatus(try call(mine, ["s1"], method: "DELETE"), 200)
        expectStatus(try call(mine, ["s1"]), 404)
        // An answer to DELETE that names another session opens none.
        expectStatus(try call(mine, [], [("X-Open", "s2")]), 200)
        let odd = try call(mine, ["s2"], [("X-Open", "s3")], method: "DELETE")
        #expect(odd.status == 502 && odd["mcp-session-id"] == nil, "\(odd.text)")
        for id in ["s2", "s3"] { expectStatus(try call(mine, [id]), 404) }
    }

    @Test("A protocol session keeps its upstream, outlives a refresh and a restart, and ends with the grant")
    func lifetime() async throws {
        let upstreams = [try RecordingUpstream.ofAgents(), try .ofAgents()]
        defer { for upstream in upstreams { upstream.stop() } }
        let urls = "[\(upstreams.map(\.url).joined(separator: ", "))]"
        let issuer = "http://gatehouse.test"
        let configuration = Agent.configuration(urls, more: "tokens: {issuer: \"\(issuer)\"}")
        var gateway = try await GatewayInProcess.start(configuration)
        defer { gateway.stop() }
        var agent = try Agent(gateway, issuer: issuer)
        let ada = try gateway.login(.ada)
        let tokens = try agent.tokens(ada)
        func count() -> [Int] { upstreams.map(\.requests.count) }
        for index in 1...6 {
            expectStatus(try agent.call(tokens.access, headers: [("X-Open", "s\(index)")]), 200)
        }
        // Whichever upstream has opened it gets all that follows.
        for index in 1...6 {
            let owner = try #require(
                upstreams.firstIndex { $0.requests.contains { $0["x-open"] == "s\(index)" } })
            for _ in 1...4 {
                let before = count()
                expectStatus(try agent.call(tokens.access, headers: [("Mcp-Session-Id", "s\(index)")]), 200)
                #expect(zip(count(), before).map { $0 - $1 } == (owner == 0 ? [1, 0] : [0, 1]))
            }
        }
        let refreshed = try agent.refresh(tokens.refresh).json["access_token"] as? String ?? ""
        expectStatus(try agent.call(refreshed, headers: [("Mcp-Session-Id", "s1")]), 200)
        gateway.stop()
        gateway = try await GatewayInProcess.start(configuration, directory: gateway.directory)
        agent = Agent(gateway, clientID: agent.clientID, issuer: issuer)
        expectStatus(try agent.call(refreshed, headers: [("Mcp-Session-Id", "s1")]), 200)
        try gateway.endFirstGrant(ada)
        let again = try agent.tokens(ada).access
        expectStatus(try agent.call(again, headers: [("Mcp-Session-Id", "s1")]), 404)
    }

    @Test(
        "Every end of a grant cuts its open streams, and no others",
        arguments: ["grant", "logout", "session", "command", "client", "user", "password", "reuse", "expiry"])
    func streams(_ end: String) async throws {
        let world = try await AgentWorld(.ofAgents())
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let tokens = try agent.tokens(ada)
        let stream = try Self.stream(gateway, tokens.access)
        let other = try Self.stream(gateway, try Agent(gateway).tokens(try gateway.login(.bob)).access)
        #expect(!stream.isReadable(within: 200))
        switch end {
        case "grant": try gateway.endFirstGrant(ada)
        case "logout": expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]), 204)
        case "session":
            expectStatus(try gateway.request("DELETE", "/api/session/\(ada.sessionID)", headers: [ada.bearer]), 204)
        case "command":
            #expect(try GatewayProcess.run(["sessions", "end", ada.sessionID], in: gateway.directory).status == 0)
        case "client":
            #expect(try GatewayProcess.run(["clients", "disable", agent.clientID], in: gateway.directory).status == 0)
        case "user":
            #expect(try GatewayProcess.run(["users", "disable", ada.userID], in: gateway.directory).status == 0)
        case "password":
            let body = ["current": TestUser.ada.password, "new": "quite another one"]
            expectStatus(try gateway.request("POST", "/api/auth/password", headers: [ada.bearer], json: body), 204)
        case "reuse":
            let next = try agent.refresh(tokens.refresh).json["refresh_token"] as? String ?? ""
            _ = try agent.refresh(next)
            gateway.clock.advance(by: .milliseconds(11_000))
            expectStatus(try agent.refresh(tokens.refresh), 400)
        default: gateway.clock.advance(by: .seconds(15 * 60 + 31))
        }
        #expect(try Self.isCut(stream))
        expectStatus(try agent.call(tokens.access), 401)
        // The expiry is that of both.
        if end == "expiry" { #expect(try Self.isCut(other)) } else { #expect(!other.isReadable(within: 200)) }
    }

    @Test("A refresh of the grant extends a stream beyond the token that opened it, up to the end of the next")
    func extended() async throws {
        let world = try await AgentWorld(.ofAgents())
        defer { world.stop() }
        let (gateway, agent) = (world.gateway, world.agent)
        let tokens = try agent.tokens(world.ada)
        let stream = try Self.stream(gateway, tokens.access)
        gateway.clock.advance(by: .seconds(600))
        expectStatus(try agent.refresh(tokens.refresh), 200)
        gateway.clock.advance(by: .seconds(600))
        expectStatus(try agent.call(tokens.access), 401)
        #expect(!stream.isReadable(within: 500))
        gateway.clock.advance(by: .seconds(600))
        #expect(try Self.isCut(stream))
    }

    @Test("The store holds no code, token, consent or protocol session as it is sent")
    func stored() async throws {
        let world = try await AgentWorld(.ofAgents())
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let tokens = try agent.tokens(ada)
        let session = "session-of-the-upstream"
        expectStatus(try agent.call(tokens.access, headers: [("X-Open", session)]), 200)
        let made = try gateway.request(
            "POST", "/api/auth/tokens", headers: [ada.bearer],
            json: ["name": "a-name", "scopes": ["read"], "expires_in": 600, "resource": agent.resource])
        let secrets = [
            tokens.access, tokens.refresh, try agent.code(ada), Agent.field(try agent.authorize(ada)), session,
            made.json["token"] as? String ?? "",
        ]
        // Its files are whole when it is closed.
        gateway.stop()
        let stored = try FileManager.default.contentsOfDirectory(atPath: gateway.directory.path)
            .filter { $0.hasPrefix("state.sqlite") }
            .reduce(Data()) { try $0 + Data(contentsOf: gateway.directory.appendingPathComponent($1)) }
        for known in [agent.clientID, "a-name"] { #expect(stored.range(of: Data(known.utf8)) != nil, "\(known)") }
        for secret in secrets {
            #expect(secret.utf8.count > 20 && stored.range(of: Data(secret.utf8)) == nil, "\(secret.prefix(5))…")
        }
    }

    @Test("Only allowed origins reach a resource, and their scripts may read its answers")
    func origins() async throws {
        let world = try await AgentWorld(more: "server: {allowed_origins: [\"https://app.example\"]}")
        defer { world.stop() }
        let (gateway, upstream, agent) = (world.gateway, world.upstream, world.agent)
        let token = try agent.tokens(world.ada).access
        for _ in 1...2 {
            let good = try agent.call(token, "GET", headers: [("Origin", "https://app.example")])
            #expect(good.status == 200 && good["access-control-allow-origin"] == "https://app.example")
            #expect(good["access-control-expose-headers"]?.contains("Mcp-Session-Id") == true)
            let bad = try agent.call(token, "GET", headers: [("Origin", "https://evil.example")])
            #expect(bad.status == 403 && bad.code == "origin_refused")
        }
        let preflight = try gateway.request(
            "OPTIONS", "/mcp",
            headers: [
                ("Origin", "https://app.example"), ("Access-Control-Request-Method", "POST"),
                ("Access-Control-Request-Headers", "authorization,mcp-param-a.b,mcp-protocol-version"),
            ])
        #expect(preflight.status == 204)
        #expect(preflight["access-control-allow-headers"]?.contains("mcp-param-a.b") == true)
        upstream.forget()
        expectStatus(try agent.call(token, headers: [("Mcp-Param-a.b_c", "v"), ("X-a.b", "v")]), 200)
        #expect(upstream.requests.last?["mcp-param-a.b_c"] == "v" && upstream.requests.last?["x-a.b"] == nil)
        let anywhere = [("Origin", "https://anywhere.example")]
        for path in ["/oauth2/token", "/oauth2/register", "/oauth2/revoke"] {
            let preflight = try gateway.request(
                "OPTIONS", path, headers: anywhere + [("Access-Control-Request-Method", "POST")])
            #expect(preflight.status == 204 && preflight["access-control-allow-origin"] == "*", "\(path)")
            #expect(preflight["access-control-allow-credentials"] == nil)
            let answer = try gateway.form(path, [("x", "y")], headers: anywhere)
            #expect(answer.status != 403 && answer["access-control-allow-origin"] == "*", "\(path)")
        }
    }
}
