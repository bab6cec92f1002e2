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
