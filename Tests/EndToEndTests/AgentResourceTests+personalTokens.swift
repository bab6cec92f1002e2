import Foundation
import GatewayForTests
import Testing

/// Personal access tokens at a resource.
extension AgentResourceTests {
    @Test(
        "A stream that a personal access token has opened ends with it",
        arguments: ["delete", "user", "password", "expiry"])
    func personalStreams(_ end: String) async throws {
        let world = try await AgentWorld(.ofAgents())
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let made = try gateway.request(
            "POST", "/api/auth/tokens", headers: [ada.bearer],
            json: ["name": "x", "scopes": ["read"], "expires_in": 600, "resource": agent.resource])
        let token = made.json["token"] as? String ?? ""
        let stream = try Self.stream(gateway, token)
        #expect(!stream.isReadable(within: 200))
        switch end {
        case "delete":
            let path = "/api/auth/tokens/\(made.json["id"] as? String ?? "")"
            expectStatus(try gateway.request("DELETE", path, headers: [ada.bearer]), 204)
        case "user":
            #expect(try GatewayProcess.run(["users", "disable", ada.userID], in: gateway.directory).status == 0)
        case "password":
            let body = ["current": TestUser.ada.password, "new": "quite another one"]
            expectStatus(try gateway.request("POST", "/api/auth/password", headers: [ada.bearer], json: body), 204)
        default: gateway.clock.advance(by: .seconds(601))
        }
        #expect(try Self.isCut(stream))
        expectStatus(try agent.call(token), 401)
    }

    @Test("A personal access token makes no session, ticket, socket, login or other token", arguments: [true, false])
    func personalElsewhere(_ isOfResource: Bool) async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        var body: [String: Any] = ["name": "x", "scopes": [String](), "expires_in": 600]
        if isOfResource { body.merge(["resource": agent.resource, "scopes": ["read"]]) { $1 } }
        let made = try gateway.request("POST", "/api/auth/tokens", headers: [ada.bearer], json: body)
        let token = made.json["token"] as? String ?? ""
        expectStatus(try agent.call(token, path: isOfResource ? "/mcp" : "/plain"), 200)
        /// What the API answers, with the person's own token as the control.
        func answers(_ token: String) throws -> [Int] {
            let bearer = ("Authorization", "Bearer \(token)")
            let own = [bearer, ("Session-Id", ada.sessionID)]
            let ticket = "/api/session/\(ada.sessionID)/ticket"
            let intent: [String: Any] = ["id": "1", "intent": "echo", "params": [String: Any]()]
            return [
                try gateway.request("POST", "/api/session/create", headers: [bearer], json: [String: Any]()).status,
                try gateway.request("POST", ticket, headers: [bearer]).status,
                try gateway.request("POST", "/api/auth/tokens", headers: [bearer], json: body).status,
                try gateway.request("POST", "/api/intent", headers: own, json: intent).status,
                try gateway.socket("/api/runtime/agent", headers: own).answer.status,
            ]
        }
        #expect(try answers(ada.token) == [200, 200, 201, 200, 101])
        #expect(try answers(token) == [401, 401, 401, 401, 401])
        expectStatus(try gateway.request("POST", "/api/auth/login", json: ["subject_token": token]), 401)
    }

    @Test("A personal access token opens routes that require a token, and nothing else")
    func personalTokens() async throws {
        let upstream = try RecordingUpstream()
        let world = try await AgentWorld(upstream, more: "  - {path: /owned, upstream: \(upstream.url)}")
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        func make(_ body: [String: Any]) throws -> RawResponse {
            let plain: [String: Any] = ["name": "ci", "scopes": ["orders:read"], "expires_in": 3600]
            return try gateway.request(
                "POST", "/api/auth/tokens", headers: [ada.bearer], json: plain.merging(body) { $1 })
        }
        let faults: [([String: Any], Int)] = [
            (["expires_in": 0], 400), (["expires_in": 366 * 86_400 + 1], 400), (["name": ""], 400),
            (["scopes": "orders:read"], 400), (["scopes": ["a b"]], 400), (["scopes": ["admin"]], 403),
            (["resource": "https://evil.example"], 404), (["resource": gateway.origin + "/mcp"], 403),
        ]
        for (wrong, status) in faults { expectStatus(try make(wrong), status) }
        let made = try make([:])
        let token = made.json["token"] as? String ?? ""
        #expect(made.status == 201 && token.hasPrefix("pat_") && token.utf8.count == 53)
        for _ in 1...2 { expectStatus(try agent.call(token, "GET", path: "/plain"), 200) }
        #expect(upstream.requests.last?["x-gatehouse-user"] == ada.userID)
        expectStatus(try agent.call(token, "GET", path: "/api/auth/verify"), 200)
        for path in ["/mcp", "/owned", "/api/auth/me", "/api/auth/tokens", "/api/auth/grants", "/api/session"] {
            expectStatus(try agent.call(token, "GET", path: path), 401)
        }
        expectStatus(
            try agent.call(token, "GET", path: "/owned", headers: [("Session-Id", ada.sessionID)]), 401)
        expectStatus(try agent.call(String(token.dropLast()) + "!", "GET", path: "/plain"), 401)
        let forResource = try make(["scopes": ["read"], "resource": gateway.origin + "/mcp"])
        let other = forResource.json["token"] as? String ?? ""
        expectStatus(try agent.call(other), 200)
        #expect(upstream.requests.last?["x-gatehouse-client"] == "pat")
        expectStatus(try agent.call(other, "GET", path: "/plain"), 401)
        let list = try gateway.request("GET", "/api/auth/tokens", headers: [ada.bearer])
        #expect((list.json["tokens"] as? [Any])?.count == 2 && !list.text.contains("pat_"))
        let id = made.json["id"] as? String ?? ""
        expectStatus(
            try gateway.request("DELETE", "/api/auth/tokens/\(id)", headers: [try gateway.login(.bob).bearer]), 404)
        expectStatus(try gateway.request("DELETE", "/api/auth/tokens/\(id)", headers: [ada.bearer]), 204)
        expectStatus(try agent.call(token, "GET", path: "/plain"), 401)
        let changed = try gateway.request(
            "POST", "/api/auth/password", headers: [ada.bearer],
            json: ["current": TestUser.ada.password, "new": "quite another one"])
        expectStatus(changed, 204)
        expectStatus(try agent.call(other), 401)
        let late = try gateway.login(TestUser(email: TestUser.ada.email, password: "quite another one", tenant: "acme"))
        let short = try gateway.request(
            "POST", "/api/auth/tokens", headers: [late.bearer],
            json: ["name": "x", "scopes": [String](), "expires_in": 60])
        let brief = short.json["token"] as? String ?? ""
        expectStatus(try agent.call(brief, "GET", path: "/plain"), 200)
        gateway.clock.advance(by: .milliseconds(60_500))
        expectStatus(try agent.call(brief, "GET", path: "/plain"), 401)
    }
}
