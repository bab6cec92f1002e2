import BasicsForTests
import Foundation
import GatewayForTests
import StateSurface
import Testing

/// Consents and grants: what is remembered, and what ends them.
extension AgentAuthorizationTests {
    @Test("A consent is given once, in the session that was asked, by a page of this server")
    func consent() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let bob = try gateway.login(.bob)
        let field = Agent.field(try agent.authorize(ada))
        expectStatus(try agent.decide(bob, field), 400)
        expectStatus(try agent.decide(ada, field + "x"), 400)
        expectStatus(try agent.decide(ada, field, "maybe"), 400)
        for headers in [
            [("Origin", "https://evil.example")], [("Origin", "null")],
            [("Origin", "null"), ("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "cross-site")],
        ] {
            expectStatus(try agent.decide(ada, field, headers: headers), 403)
        }
        // The question is still there: none of these has taken it.
        let decided = try agent.decide(
            ada, field, headers: [("Origin", "null"), ("Sec-Fetch-Site", "same-origin")])
        #expect(Agent.parameters(decided)["code"] != nil)
        expectStatus(try agent.decide(ada, field), 400)
        // A person who is not signed in any more signs in first, and is asked again.
        let left = try gateway.login(.ada)
        let question = Agent.field(try agent.authorize(left))
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [left.bearer]), 204)
        let away = try agent.decide(left, question)
        #expect(away.status == 303 && away["location"]?.hasPrefix("/.gatehouse/sign-in?return_to=%2Foauth2") == true)
        let back = URLComponents(string: away["location"] ?? "")?.queryItems?.first?.value ?? ""
        #expect(try !Agent.field(gateway.request("GET", back, headers: [Agent.cookie(ada)])).isEmpty, "\(back)")
        expectStatus(try agent.decide(left, question + "x"), 400)
        let denied = try agent.decide(ada, Agent.field(try agent.authorize(ada)), "deny")
        #expect(Agent.parameters(denied)["error"] == "access_denied")
        let old = Agent.field(try agent.authorize(ada))
        gateway.clock.advance(by: .milliseconds(601_000))
        expectStatus(try agent.decide(ada, old), 400)
    }

    @Test("Consent is remembered for https redirects and asked again for loopback ones and for more scopes")
    func remembered() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, ada) = (world.gateway, world.ada)
        let web = try Agent(gateway, redirect: "https://app.example/cb")
        _ = try web.tokens(ada, ["scope": "read"])
        let again = try web.authorize(ada, ["scope": "read"])
        #expect(again.status == 303 && Agent.parameters(again)["code"] != nil)
        expectStatus(try web.authorize(ada, ["scope": "read write"]), 200)
        let local = try Agent(gateway)
        _ = try local.tokens(ada)
        expectStatus(try local.authorize(ada), 200)
        // The end of the grant takes the memory with it.
        let mine = try gateway.grants(ada).first { $0["client_id"] as? String == web.clientID }
        #expect(mine?["resource"] as? String == web.resource && mine?["scopes"] as? [String] == ["read"])
        expectStatus(try gateway.endGrant(mine?["id"], try gateway.login(.bob)), 404)
        expectStatus(try gateway.endGrant(mine?["id"], ada), 204)
        expectStatus(try gateway.endGrant(mine?["id"], ada), 404)
        expectStatus(try web.authorize(ada, ["scope": "read"]), 200)
    }

    @Test("A consent that outlives its session is listed, and can be ended")
    func outliving() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, ada) = (world.gateway, world.ada)
        let web = try Agent(gateway, redirect: "https://app.example/cb")
        let tokens = try web.tokens(ada, ["scope": "read"])
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]), 204)
        expectStatus(try web.call(tokens.access), 401)
        let later = try gateway.login(.ada)
        let left = try gateway.grants(later)
        #expect(left.count == 1 && left.first?["client_id"] as? String == web.clientID)
        #expect(left.first?["scopes"] as? [String] == ["read"] && left.first?["resource"] as? String == web.resource)
        // It is worth listing: the client gets access without a question.
        let silent = try web.authorize(later, ["scope": "read"])
        #expect(silent.status == 303 && Agent.parameters(silent)["code"] != nil)
        let bob = try gateway.login(.bob)
        #expect(try gateway.grants(bob).isEmpty)
        expectStatus(try gateway.endGrant(left.first?["id"], bob), 404)
        expectStatus(try gateway.endGrant(left.first?["id"], later), 204)
        #expect(try gateway.grants(later).isEmpty)
        expectStatus(try web.authorize(later, ["scope": "read"]), 200)
    }

    @Test("A grant ends with its session, its client, its user and by itself, also before its code was used")
    func endings() async throws {
        let world = try await AgentWorld(resource: ", offline: true")
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let tied = try agent.tokens(ada)
        let kept = try agent.tokens(ada, offline: true)
        let unused = try agent.code(ada)
        for token in [tied.access, kept.access] { expectStatus(try agent.call(token), 200) }
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]), 204)
        expectStatus(try agent.call(tied.access), 401)
        #expect(try agent.refresh(tied.refresh).status == 400)
        #expect(try agent.redeem(unused).status == 400)
        expectStatus(try agent.call(kept.access), 200)
        let refreshed = try agent.refresh(kept.refresh)
        expectStatus(refreshed, 200)
        let disabled = try GatewayProcess.run(["clients", "disable", agent.clientID], in: gateway.directory)
        #expect(disabled.status == 0, "\(disabled.errors)")
        let token = refreshed.json["access_token"] as? String ?? ""
        #expect(try await eventually { try agent.call(token).status == 401 })
        let again = try gateway.login(.ada)
        expectStatus(try agent.authorize(again), 400)
    }

    @Test("Where a resource offers no access beyond the session, sending the field does not get it")
    func notOffered() async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        #expect(try !agent.authorize(ada).text.contains("offline"))
        let tokens = try agent.tokens(ada, offline: true)
        expectStatus(try agent.call(tokens.access), 200)
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]), 204)
        expectStatus(try agent.call(tokens.access), 401)
        #expect(try agent.refresh(tokens.refresh).status == 400)
    }

    @Test("A scope that the account has lost since the person's consent is not in the first token")
    func lostScope() async throws {
        let writer = TestUser(
            email: "writer@example.com", password: "correct horse battery", tenant: "acme", scopes: ["write"])
        let world = try await AgentWorld(users: [writer])
        defer { world.stop() }
        let (gateway, agent, person) = (world.gateway, world.agent, world.ada)
        #expect(try agent.redeem(try agent.code(person)).json["scope"] as? String == "read write")
        let code = try agent.code(person)
        try await gateway.setAccount(writer) { $0.scope = [] }
        let tokens = try agent.redeem(code)
        #expect(tokens.status == 200 && tokens.json["scope"] as? String == "read", "\(tokens.text)")
    }

    @Test(
        "A redirect URI that the client has given up since the question is not redirected to",
        arguments: ["allow", "deny"])
    func changedRedirect(_ decision: String) async throws {
        let world = try await AgentWorld()
        defer { world.stop() }
        let (gateway, agent, ada) = (world.gateway, world.agent, world.ada)
        let field = Agent.field(try agent.authorize(ada))
        let state = try await StateSurfaceFactory.open(
            url: "sqlite:\(gateway.directory.path)/state.sqlite", clock: { Int64(Date().timeIntervalSince1970 * 1_000) }
        )
        var client = try #require(try await state.client(id: agent.clientID))
        client.redirectURIs = ["http://127.0.0.1/elsewhere"]
        try await state.keep(documentClient: client)
        await state.close()
        let answer = try agent.decide(ada, field, decision)
        #expect(answer.status == 400 && answer["location"] == nil, "\(answer.status) \(answer.text)")
    }
}
