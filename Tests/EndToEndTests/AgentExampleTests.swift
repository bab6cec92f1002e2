import Encodings
import Foundation
import Testing

/// What the pages and examples for agents promise.
@Suite(.blocking) struct AgentExampleTests {
    private static let root = GatewayProcess.packageRoot

    @Test(
        "config check finds nothing to mend in the examples", arguments: ["gatehouse.yaml", "keycloak/gatehouse.yaml"])
    func check(_ file: String) throws {
        let found = try GatewayProcess.run(
            ["config", "check", "--config", Self.root.appendingPathComponent("Examples/mcp/\(file)").path],
            in: try GatewayProcess.makeDirectory(), stateful: false,
            environment: ["GATEHOUSE_IDENTITY_PROVIDERS_KEYCLOAK_CLIENT_SECRET": "a-secret"])
        #expect(found.status == 0, "\(found.errors)")
    }

    @Test("The Keycloak example with another provider in its place: sign in there, consent, call, and log out there")
    func keycloak() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        // Where the gateway is reached is in the file.
        let port = try SocketAddressing.unusedPort()
        let file = Self.root.appendingPathComponent("Examples/mcp/keycloak/gatehouse.yaml")
        let yaml = try String(contentsOf: file, encoding: .utf8)
            .replacingOccurrences(of: "http://localhost:8081/realms/gatehouse", with: provider.issuer)
            .replacingOccurrences(of: "client_id: gatehouse", with: "client_id: gate")
            .replacingOccurrences(of: "http://localhost:8080", with: "http://127.0.0.1:\(port)")
            .replacingOccurrences(of: "http://127.0.0.1:8000", with: upstream.url)
        let gateway = try await GatewayInProcess.start(
            yaml, users: [],
            environment: ["GATEHOUSE_IDENTITY_PROVIDERS_KEYCLOAK_CLIENT_SECRET": "s3cret-of-the-client"],
            listen: "127.0.0.1:\(port)")
        defer { gateway.stop() }
        let agent = try Agent(gateway)
        /// Who is not signed in goes to the provider first, comes back to the question, and allows it.
        func authorize() throws -> String {
            var browser = BrowserProbe(gateway)
            let there = try browser.navigate("/oauth2/authorize?" + agent.query())
            let request = Agent.parameters(there)["return_to"] ?? ""
            let back = try browser.signIn(provider, name: "keycloak", query: "?return_to=" + Agent.encode(request))
            #expect(back.status == 303 && back["location"] == request, "\(back.status) \(back.text)")
            let page = try browser.navigate(request)
            let decided = try gateway.form(
                "/oauth2/authorize", [("request", Agent.field(page)), ("decision", "allow")],
                headers: [("Cookie", "gatehouse=\(browser.sessionSecret ?? "")"), ("Origin", gateway.origin)])
            let code = try #require(Agent.parameters(decided)["code"], "\(page.status) \(decided.text)")
            return try agent.redeem(code).json["access_token"] as? String ?? ""
        }
        let token = try authorize()
        expectStatus(try agent.call(token), 200)
        let seen = try #require(upstream.requests.last)
        #expect(seen["x-gatehouse-email"] == "ada@idp.example" && seen["x-gatehouse-client"] == agent.clientID)
        #expect(seen["authorization"] == nil && seen["x-gatehouse-groups"] == nil)
        let out = try gateway.form(
            "/api/auth/backchannel/keycloak", [("logout_token", try provider.logoutToken())])
        expectStatus(out, 200)
        expectStatus(try agent.call(token), 401)
        // A person who is not in the group may consent, and gets nothing from it.
        provider.change {
            $0.claims["sub"] = "person-2"
            $0.claims["email"] = "bob@idp.example"
            $0.claims["groups"] = ["guests"]
        }
        let refused = try agent.call(try authorize())
        #expect(refused.status == 403 && refused.code == "not_allowed", "\(refused.status) \(refused.text)")
    }

    @Test(
        "The story: a client of the SDK is authorised, calls a tool, and its stream is cut when the grant ends",
        .enabled(if: Program.pythonHas("mcp, uvicorn, httpx2"), "needs python3 with mcp and uvicorn"))
    func story() throws {
        let script = Self.root.appendingPathComponent("Examples/mcp/story/story.py").path
        let told = try Program.run("timeout", ["240", "python3", script, GatewayProcess.binary.path])
        let text = String(decoding: told.output, as: UTF8.self)
        #expect(told.status == 0 && text.contains("add(2, 3) -> 5") && text.contains("its stream was cut"), "\(text)")
        #expect(text.contains("the token       is worth nothing now: 401"), "\(told.errors)")
    }

    @Test("Every test that the table of the authorization chapter names is there, and every row names one")
    func table() throws {
        let page = try String(contentsOf: Self.root.appendingPathComponent("docs/mcp.md"), encoding: .utf8)
        let chapter = page.components(separatedBy: "## The authorization chapter").last ?? ""
        let rows = chapter.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count > 15)
        let folders = ["Tests/EndToEndTests", "Tests/AuthorizationServerTests"]
        for row in rows {
            let names = row.split(separator: "|").last?.matches(of: /`(\w+)\/(\w+)`/) ?? []
            #expect(!names.isEmpty, "\(row)")
            for name in names {
                let sources = folders.compactMap { folder in
                    try? String(
                        contentsOf: Self.root.appendingPathComponent("\(folder)/\(name.1).swift"), encoding: .utf8)
                }
                #expect(sources.contains { $0.contains("func \(name.2)(") }, "\(name.1)/\(name.2)")
            }
        }
    }
}
