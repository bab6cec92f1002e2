import Encodings
import Foundation
import Testing

/// The configurations under `Examples/`, as an operator would begin with them.
@Suite(.blocking) struct ExampleTests {
    private static let folder = GatewayProcess.packageRoot.appendingPathComponent("Examples/identity-providers")

    /// A secret for each provider, as its README says.
    private static let secrets = Dictionary(
        uniqueKeysWithValues: ["KEYCLOAK", "GOOGLE", "ENTRA", "GITHUB"].map {
            ("GATEHOUSE_IDENTITY_PROVIDERS_\($0)_CLIENT_SECRET", "a-secret")
        })

    @Test(
        "config check finds nothing to mend in the example of an identity provider",
        arguments: ["keycloak", "google", "entra-id", "github", "supabase"])
    func check(name: String) throws {
        let file = Self.folder.appendingPathComponent("\(name)/gatehouse.yaml").path
        let found = try GatewayProcess.run(
            ["config", "check", "--config", file], in: try GatewayProcess.makeDirectory(), stateful: false,
            environment: Self.secrets)
        #expect(found.status == 0, "\(found.errors)")
    }

    /// The configurations on the project's first page.
    private static func readMe() throws -> [String] {
        let page = GatewayProcess.packageRoot.appendingPathComponent("README.md")
        return try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```yaml\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    @Test("config check finds nothing to mend in the configurations of the README, with the secret where they say")
    func firstPage() throws {
        let configurations = try Self.readMe()
        #expect(configurations.count == 2)
        for configuration in configurations {
            let directory = try GatewayProcess.makeDirectory()
            let file = directory.appendingPathComponent("first.yaml").path
            try configuration.write(toFile: file, atomically: true, encoding: .utf8)
            let check = ["config", "check", "--config", file]
            let found = try GatewayProcess.run(check, in: directory, stateful: false, environment: Self.secrets)
            #expect(found.status == 0, "\(found.errors)")
            let without = try GatewayProcess.run(check, in: directory, stateful: false)
            #expect((without.status != 0) == configuration.contains("_CLIENT_SECRET"), "\(without)")
        }
    }

    @Test("The ten lines of the README sign a visitor in on the same session, let staff through, and close its sockets")
    func firstPageAtWork() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let lines = try #require(try Self.readMe().first)
        #expect(lines.split(separator: "\n").count == 10)
        let yaml = lines.replacingOccurrences(of: "https://login.example.com/realms/acme", with: provider.issuer)
            .replacingOccurrences(
                of: "client_id: gatehouse ", with: "client_secret: s3cret-of-the-client\n    client_id: gate "
            )
            .replacingOccurrences(of: "http://127.0.0.1:8000", with: upstream.url)
        let gateway = try await GatewayInProcess.start(yaml, users: [])
        defer { gateway.stop() }

        var visitor = BrowserProbe(gateway)
        let there = try visitor.navigate("/orders/7")
        #expect(there.status == 303 && there["location"] == "/.gatehouse/sign-in?return_to=/orders/7")
        let anonymous = try visitor.fetch("POST", "/api/session/create-anonymous", json: [:])
        let back = try visitor.signIn(provider, name: "keycloak", query: "?return_to=/orders/7")
        #expect(back["location"] == "/orders/7")
        #expect(try visitor.navigate("/orders/7").status == 200)
        #expect(upstream.requests.last?["x-gatehouse-groups"] == "staff")
        let tokens = try visitor.tokens()
        #expect(tokens.sessionID == anonymous.json["session_id"] as? String)
        let socket = try AgentProbe(gateway, tokens)
        expectStatus(
            try gateway.form("/api/auth/backchannel/keycloak", [("logout_token", try provider.logoutToken())]), 200)
        #expect(try socket.untilClosed() == .close(4403, "session_ended"))

        provider.change { script in
            for (name, value) in ["sub": "person-2", "sid": "idp-session-2"] { script.claims[name] = .string(value) }
            script.claims["groups"] = ["guests"]
        }
        var guest = BrowserProbe(gateway)
        #expect(try guest.signIn(provider, name: "keycloak")["location"] == "/")
        #expect(try guest.navigate("/orders/7").status == 403)
        #expect(upstream.requests.count == 1)
    }

    @Test(
        "The story: a sign-in at a provider, a socket of an application that knows nothing, a logout at the provider",
        .enabled(if: Program.pythonHas("oidc_provider_mock"), "oidc-provider-mock is not installed"))
    func story() throws {
        let script = Self.folder.appendingPathComponent("story/story.py").path
        let told = try Program.run("timeout", ["240", "python3", script, GatewayProcess.binary.path])
        let text = String(decoding: told.output, as: UTF8.self)
        #expect(told.status == 0 && text.contains("the socket closed, 4403 session_ended"), "\(text) \(told.errors)")
    }

    @Test(
        "The example server answers whom the gateway vouches for, and refuses what reaches it past the gateway",
        .enabled(if: (try? Program.run("node", ["--version"]).status) == 0, "node is not installed"))
    func serverAssertion() async throws {
        let port = try SocketAddressing.unusedPort()
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /orders, upstream: 'http://127.0.0.1:\(port)', require: token}]\n")
        defer { gateway.stop() }
        let script = GatewayProcess.packageRoot.appendingPathComponent("Examples/server-assertion/server.mjs").path
        let (server, output) = try Program.start(
            "env", ["GATEHOUSE=\(gateway.origin)", "PORT=\(port)", "node", script])
        // It has inherited blocked signals from this thread.
        defer { kill(server.processIdentifier, SIGKILL) }
        #expect(try Program.line(output) == "ready \(port)")

        let login = try gateway.login(.ada)
        let bearer = [("Authorization", "Bearer \(login.token)")]
        let answer = try gateway.request("GET", "/orders/7", headers: bearer)
        #expect(answer.status == 200 && answer.json["path"] as? String == "/orders/7", "\(answer.text)")
        #expect(answer.json["email"] as? String == TestUser.ada.email)

        // Past the gateway: with nothing, with plain fields, and with the access token in place of the assertion.
        let direct = "http://127.0.0.1:\(port)/orders/7"
        for field in ["X-Nothing: x", "X-Gatehouse-User: usr_1", "X-Gatehouse-Assertion: \(login.token)"] {
            let answer = try Program.run(
                "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", field, direct])
            #expect(String(decoding: answer.output, as: UTF8.self) == "401", "\(field.prefix(24))")
        }
    }

    @Test("Every example is listed, and says what was not tried")
    func told() throws {
        let list = try String(contentsOf: Self.folder.appendingPathComponent("README.md"), encoding: .utf8)
        for entry in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) where entry != "README.md" {
            #expect(list.contains("](\(entry))"), "\(entry)")
            let readMe = Self.folder.appendingPathComponent("\(entry)/README.md")
            let text = try String(contentsOf: readMe, encoding: .utf8).lowercased()
            #expect(text.contains("not tried against"), "\(entry)")
        }
    }
}
