import Foundation
import GatewayForTests
import StateSurface
import Testing

/// Agents are authorised by people: the authorization server, as browsers and clients see it.
@Suite(.blocking) struct AgentAuthorizationTests {
    @Test("A resource says where its authorization server is, and that says what it can do")
    func metadata() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let gateway = world.gateway
        let resource = try gateway.request("GET", "/.well-known/oauth-protected-resource/mcp")
        #expect(resource.json["resource"] as? String == gateway.origin + "/mcp")
        #expect(resource.json["authorization_servers"] as? [String] == [gateway.origin])
        #expect(resource.json["scopes_supported"] as? [String] == ["read", "write"])
        #expect(resource.json["bearer_methods_supported"] as? [String] == ["header"])
        #expect(resource.json["resource_name"] as? String == "Tools")
        #expect(resource["access-control-allow-origin"] == "*")
        expectStatus(try gateway.request("GET", "/.well-known/oauth-protected-resource/plain"), 404)
        expectStatus(try gateway.request("GET", "/.well-known/oauth-protected-resource"), 404)
        let server = try gateway.request("GET", "/.well-known/oauth-authorization-server").json
        #expect(server["authorization_endpoint"] as? String == gateway.origin + "/oauth2/authorize")
        #expect(server["code_challenge_methods_supported"] as? [String] == ["S256"])
        #expect(server["client_id_metadata_document_supported"] as? Bool == true)
        #expect(server["authorization_response_iss_parameter_supported"] as? Bool == true)
        #expect(server["registration_endpoint"] as? String == gateway.origin + "/oauth2/register")
        #expect((server["grant_types_supported"] as? [String])?.contains("authorization_code") == true)
        let challenge = try gateway.request("POST", "/mcp", body: "{}")
        let expected = "resource_metadata=\"\(gateway.origin)/.well-known/oauth-protected-resource/mcp\""
        #expect(challenge.status == 401 && challenge["www-authenticate"]?.contains(expected) == true)
        #expect(challenge["www-authenticate"]?.contains("scope=\"read\"") == true)
    }

    @Test("A person allows a client, which gets tokens for this resource, and refreshes them")
    func authorization() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        // First the person signs in; the page returns to the same request.
        let stranger = try agent.authorize(nil)
        #expect(stranger.status == 303)
        let back = Agent.parameters(stranger)["return_to"] ?? ""
        #expect(back == "/oauth2/authorize?" + agent.query())
        let page = try gateway.request("GET", back, headers: [Agent.cookie(ada)])
        #expect(page.status == 200 && page["content-type"] == "text/html; charset=utf-8")
        let texts = [
            "Test &lt;b&gt;agent&lt;/b&gt;", "it has not been verified", "<code>\(gateway.origin)/mcp</code>", "Tools",
            "<code>127.0.0.1</code><br>This is a program on the computer that you are using.", "<code>read</code>",
            "<code>write</code>",
        ]
        for text in texts { #expect(page.text.contains(text), "\(text)") }
        let policy = page["content-security-policy"] ?? ""
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"))
        #expect(!policy.contains("form-action") && page["x-frame-options"] == "DENY")
        let decided = try agent.decide(ada, Agent.field(page))
        let parameters = Agent.parameters(decided)
        #expect(decided.status == 303 && parameters["state"] == "st" && parameters["iss"] == gateway.origin)
        #expect(decided["location"]?.hasPrefix(Agent.redirect + "?") == true)
        let answer = try agent.redeem(parameters["code"] ?? "", ["resource": agent.resource])
        expectStatus(answer, 200)
        #expect(answer.json["scope"] as? String == "read write" && answer["cache-control"] == "no-store")
        let token = answer.json["access_token"] as? String ?? ""
        expectStatus(try agent.call(token), 200)
        let seen = try #require(world.upstream.requests.last)
        #expect(seen["x-gatehouse-client"] == agent.clientID && seen["x-gatehouse-user"] == ada.userID)
        #expect(seen["authorization"] == nil && seen["x-gatehouse-assertion"] != nil)
        // Rotation, with a narrower scope and the same resource.
        let refreshToken = answer.json["refresh_token"] as? String ?? ""
        expectStatus(try agent.refresh(refreshToken, ["resource": gateway.origin + "/other"]), 400)
        let narrow = try agent.refresh(refreshToken, ["scope": "read", "resource": agent.resource])
        #expect(narrow.status == 200 && narrow.json["scope"] as? String == "read", "\(narrow.text)")
        expectStatus(try agent.call(narrow.json["access_token"] as? String ?? ""), 200)
        let next = narrow.json["refresh_token"] as? String ?? ""
        expectStatus(try gateway.refresh(next), 401)
        #expect(try agent.refresh(next, ["scope": "read write admin"]).json["error"] as? String == "invalid_scope")
        let wide = try agent.refresh(next)
        #expect(wide.json["scope"] as? String == "read write", "\(wide.text)")
        // Reuse ends everything.
        gateway.clock.advance(by: .milliseconds(20_000))
        #expect(try agent.refresh(next).json["error"] as? String == "invalid_grant")
        expectStatus(try agent.call(wide.json["access_token"] as? String ?? ""), 401)
    }

    @Test("Tokens pass where they are for, and nowhere else")
    func audiences() async throws {
        let world = try await AgentWorld(
            more: "  - {path: /other, upstream: \"http://127.0.0.1:1\", resource: {name: Other, scopes: [read]}}")
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let token = try agent.tokens(ada).access
        expectStatus(try agent.call(token), 200)
        expectStatus(try agent.call(ada.token), 401)
        expectStatus(try agent.call(ada.token, path: "/plain"), 200)
        for path in ["/plain", "/other", "/api/auth/me", "/api/session", "/api/auth/grants", "/api/auth/verify"] {
            let answer = try agent.call(token, "GET", path: path)
            #expect(answer.status == 401 && answer.code == "invalid_token", "\(path): \(answer.status)")
        }
        let ticket = try gateway.request(
            "POST", "/api/session/\(ada.sessionID)/ticket", headers: [("Authorization", "Bearer \(token)")])
        expectStatus(ticket, 401)
        expectStatus(
            try gateway.request("POST", "/api/auth/logout", headers: [("Authorization", "Bearer \(token)")]), 401)
        // Not in the query, and not without the scope of the route.
        expectStatus(try gateway.request("GET", "/mcp?access_token=\(token)"), 400)
        let weak = try agent.tokens(ada, ["scope": "write"]).access
        let refused = try agent.call(weak)
        #expect(refused.status == 403 && refused.code == "insufficient_scope")
        let challenge = refused["www-authenticate"] ?? ""
        for part in ["error=\"insufficient_scope\"", "scope=\"read\"", "resource_metadata="] {
            #expect(challenge.contains(part), "\(challenge)")
        }
    }

    @Test("Faults of the client and its redirect URI are pages; all others are redirects with state and issuer")
    func requestFaults() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        expectStatus(try agent.authorize(ada), 200)
        let pages: [[String: String?]] = [
            ["client_id": "cli_unknown"], ["client_id": nil], ["redirect_uri": "https://evil.example/cb"],
            ["redirect_uri": nil], ["redirect_uri": "http://127.0.0.1/other"], ["redirect_uri": "http://localhost/cb"],
            ["client_id": "https://127.0.0.1:1/client.json"],
        ]
        for changes in pages {
            let answer = try agent.authorize(ada, changes)
            #expect(answer.status == 400 && answer["location"] == nil, "\(changes): \(answer.status)")
            #expect(answer["content-type"] == "text/html; charset=utf-8")
        }
        let redirects: [([String: String?], String)] = [
            (["response_type": "token"], "unsupported_response_type"), (["code_challenge": nil], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"), (["resource": nil], "invalid_target"),
            (["resource": gateway.origin + "/plain"], "invalid_target"), (["scope": "nothing"], "invalid_scope"),
        ]
        for (changes, error) in redirects {
            let answer = try agent.authorize(ada, changes)
            let parameters = Agent.parameters(answer)
            #expect(answer.status == 303 && parameters["error"] == error, "\(changes): \(answer.status)")
            #expect(parameters["state"] == "st" && parameters["iss"] == gateway.origin)
        }
        expectStatus(try agent.authorize(ada, ["redirect_uri": "http://127.0.0.1:49152/cb"]), 200)
        expectStatus(try agent.authorize(ada, ["nonsense": "x", "scope": "read nothing"]), 200)
        // Clients that read no metadata look for it at the root.
        expectStatus(try gateway.request("GET", "/authorize?" + agent.query(), headers: [Agent.cookie(ada)]), 200)
        expectStatus(try gateway.request("GET", "/authorize", headers: [Agent.cookie(ada)]), 400)
    }

    @Test("A code is for its client, redirect URI, verifier and resource, for a minute, and once")
    func codes() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let other = try Agent(gateway)
        let code = try agent.code(ada)
        let faults: [([String: String?], String)] = [
            (["client_id": other.clientID], "invalid_grant"), (["client_id": "cli_unknown"], "invalid_client"),
            (["client_id": nil], "invalid_client"), (["code_verifier": nil], "invalid_grant"),
            (["code_verifier": Agent.challenge], "invalid_grant"),
            (["redirect_uri": "http://127.0.0.1:1/cb"], "invalid_grant"), (["code": "code_x"], "invalid_grant"),
            (["resource": gateway.origin + "/other"], "invalid_target"), (["code": nil], "invalid_request"),
        ]
        for (changes, error) in faults {
            let answer = try agent.redeem(code, changes)
            #expect(answer.json["error"] as? String == error, "\(changes): \(answer.text)")
        }
        let first = try agent.redeem(code)
        expectStatus(first, 200)
        let token = first.json["access_token"] as? String ?? ""
        expectStatus(try agent.call(token), 200)
        #expect(try agent.redeem(code).json["error"] as? String == "invalid_grant")
        expectStatus(try agent.call(token), 401)
        #expect(try agent.refresh(first.json["refresh_token"] as? String ?? "").status == 400)
        let late = try agent.code(ada)
        gateway.clock.advance(by: .milliseconds(61_000))
        #expect(try agent.redeem(late).json["error"] as? String == "invalid_grant")
    }

    @Test("A client with a secret needs it for its codes, and is for people of its tenant only")
    func confidential() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, ada) = (world.gateway, world.ada)
        let added = try GatewayProcess.run(
            [
                "clients", "add", "web", "--tenant", "acme", "--redirect-uri", Agent.redirect, "--confidential",
                "--json",
            ], in: gateway.directory)
        let client = try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: Any] ?? [:]
        let secret = try #require(client["client_secret"] as? String, "\(added.errors)")
        let agent = Agent(gateway, clientID: client["client_id"] as? String ?? "")
        let code = try agent.code(ada)
        for wrong in [nil, "", secret + "x"] {
            #expect(try agent.redeem(code, ["client_secret": wrong]).json["error"] as? String == "invalid_client")
        }
        let answer = try agent.redeem(code, ["client_secret": secret])
        expectStatus(answer, 200)
        let refreshToken = answer.json["refresh_token"] as? String ?? ""
        #expect(try agent.refresh(refreshToken).json["error"] as? String == "invalid_client")
        expectStatus(try agent.refresh(refreshToken, ["client_secret": secret]), 200)
        let foreign = Agent.parameters(try agent.authorize(try gateway.login(.eve)))
        #expect(foreign["error"] == "access_denied" && foreign["code"] == nil)
    }

    @Test("Registration takes safe redirect URIs, says what it gives, and is limited")
    func registration() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let configuration = Agent.configuration(upstream.url)
            .replacingOccurrences(of: "registration: true", with: "registration: true, registration_per_hour: 2")
            .replacingOccurrences(of: "limits: {enabled: false}\n", with: "")
        let gateway = try await GatewayInProcess.start(configuration)
        defer { gateway.stop() }
        func register(_ body: [String: Any], path: String = "/oauth2/register") throws -> RawResponse {
            try gateway.request("POST", path, json: body)
        }
        let good = try register(["redirect_uris": ["https://app.example/cb"], "software_id": "x", "scope": "read"])
        #expect(good.status == 201 && good.json["token_endpoint_auth_method"] as? String == "none")
        #expect(good.json["client_secret"] == nil && good.json["scope"] as? String == "read")
        for uri in ["javascript:alert(1)", "http://app.example/cb", "https://app.example/#x", "myapp:/cb"] {
            #expect(try register(["redirect_uris": [uri]]).json["error"] as? String == "invalid_redirect_uri")
        }
        expectStatus(try register(["redirect_uris": ["https://app.example/cb"]], path: "/register"), 201)
        // What was refused above has not counted.
        expectStatus(try register(["redirect_uris": ["https://app.example/cb"]]), 429)
        // A client that was never used is forgotten.
        let agent = Agent(
            gateway, clientID: good.json["client_id"] as? String ?? "", redirect: "https://app.example/cb")
        let ada = try gateway.login(.ada)
        expectStatus(try agent.authorize(ada), 200)
        gateway.clock.advance(by: .milliseconds(3_600_000 * 11))
        expectStatus(try agent.authorize(try gateway.login(.ada)), 200)
        gateway.clock.advance(by: .milliseconds(3_600_000 * 14))
        expectStatus(try agent.authorize(try gateway.login(.ada)), 400)
    }

    @Test("Without a resource there is no authorization endpoint, and without the key no registration")
    func closed() async throws {
        let gateway = try await GatewayInProcess.start("clients: {registration: true}", users: [])
        defer { gateway.stop() }
        for path in ["/oauth2/authorize", "/authorize"] { expectStatus(try gateway.request("GET", path), 404) }
        expectStatus(try gateway.form("/oauth2/authorize", [("decision", "allow")]), 404)
        let foreign = [("Origin", "https://evil.example")]
        expectStatus(try gateway.form("/oauth2/authorize", [("decision", "allow")], headers: foreign), 403)
        for path in ["/oauth2/register", "/register"] {
            expectStatus(try gateway.request("POST", path, json: ["redirect_uris": ["https://a.example/"]]), 404)
        }
        let metadata = try gateway.request("GET", "/.well-known/oauth-authorization-server").json
        #expect(metadata["authorization_endpoint"] == nil && metadata["registration_endpoint"] == nil)
    }
}
