import BasicsForTests
import Foundation
import Testing

/// The official Python SDK of the Model Context Protocol, as server and as client with its own OAuth code.
@Suite(.enabled(if: Program.pythonHas("mcp, uvicorn, httpx2"), "needs python3 with mcp and uvicorn"), .blocking)
struct AgentSDKTests {
    /// A server of the SDK on a free port.
    private struct Server {
        let process: Process
        let port: Int

        init() async throws {
            let port = try SocketAddressing.unusedPort()
            let server = GatewayProcess.packageRoot.appendingPathComponent("Examples/mcp/server.py").path
            process = try Program.start("python3", [server, "\(port)"]).process
            self.port = port
            let isUp = try await eventually(within: .seconds(120)) { (try? RawSocket(port: port)) != nil }
            #expect(isUp)
        }

        // A program that inherits blocked signals is not ended by SIGTERM.
        func stop() { kill(process.processIdentifier, SIGKILL) }
    }

    @Test("The SDK discovers, registers, authorises and calls tools, in both revisions", arguments: ["legacy", "auto"])
    func flow(_ mode: String) async throws {
        let answer = try await Self.run(mode, "")
        #expect((answer["version"] as? String == "2026-07-28") == (mode == "auto"))
        #expect(answer["http"] as? [String] == ["HTTP/1.1"])
    }

    @Test(
        "The same over HTTP/2", .enabled(if: HTTP2Script.canRun, "needs python3 with h2, and openssl"),
        arguments: ["legacy+h2", "auto+h2"])
    func http2(_ mode: String) async throws {
        let place = try GatewayProcess.makeDirectory()
        let answer = try await Self.run(mode, try HTTP2Script.tls(in: place), in: place)
        #expect(answer["http"] as? [String] == ["HTTP/2"])
    }

    @Test(
        "Authlib in the gateway's place as the authorization server: the SDK finds it, and its tokens pass",
        .enabled(if: Program.pythonHas("authlib, flask"), "needs python3 with authlib and flask"))
    func external() async throws {
        let other = try PythonServer([Program.script("authlib_authorization_server.py")])
        // It ends with its object.
        defer { withExtendedLifetime(other) {} }
        let issuers = """
            issuers:
              - {issuer: "\(other.issuer)", discovery: true, allow_private: true, audience: [general], tenants: [partner],
                 scopes: [read]}
            """
        let answer = try await Self.run(
            "legacy", issuers, resource: ", authorization_servers: [\"\(other.issuer)\"]", client: "agent-7")
        let caller = answer["caller"] as? [String: String] ?? [:]
        #expect(caller["x-gatehouse-tenant"] == "partner" && caller["x-gatehouse-scope"] == "read", "\(caller)")
    }

    /// - Parameters:
    ///   - resource: further keys of the resource.
    ///   - client: the client's id; nil for one that registers itself.
    private static func run(
        _ mode: String, _ more: String, in place: URL? = nil, resource: String = "", client: String? = nil
    ) async throws -> [String: Any] {
        let server = try await Server()
        defer { server.stop() }
        let gateway = try await GatewayInProcess.start(
            Agent.configuration("http://127.0.0.1:\(server.port)", more: more, resource: resource), directory: place)
        defer { gateway.stop() }
        let ada = TestUser.ada
        var arguments = [Program.script("mcp_client.py"), gateway.origin, ada.email, ada.password, mode]
        if let client { arguments.append(client) }
        let result = try Program.run("python3", arguments)
        let found = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        let answer = try #require(found, "\(result.errors)")
        #expect(answer["sum"] as? String == "5" && answer["named"] as? Bool == true)
        let caller = answer["caller"] as? [String: String] ?? [:]
        #expect(caller["x-gatehouse-user"]?.hasPrefix("usr_") == true && caller["assertion"] == "yes")
        #expect(caller["x-gatehouse-client"] == answer["client_id"] as? String && caller["authorization"] == "")
        // The other authorization server gives none.
        #expect(answer["refresh"] as? Bool == (client == nil))
        return answer
    }

    @Test(
        "Authlib authorises, refreshes and revokes as a client without a secret",
        .enabled(if: Program.pythonHas("authlib, requests"), "needs python3 with authlib"))
    func authlib() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Agent.configuration(upstream.url))
        defer { gateway.stop() }
        let added = try GatewayProcess.run(
            ["clients", "add", "authlib", "--tenant", "acme", "--redirect-uri", "http://127.0.0.1/cb", "--json"],
            in: gateway.directory)
        let client = try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: Any]
        #expect(client?["client_secret"] == nil)
        let id = try #require(client?["client_id"] as? String, "\(added.errors)")
        let ada = TestUser.ada
        let result = try Program.run(
            "python3", [Program.script("authlib_client.py"), gateway.origin, ada.email, ada.password, id])
        let found = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        let answer = try #require(found, "\(result.errors)")
        #expect(answer["scope"] as? String == "read" && answer["revoked"] as? Int == 200)
        #expect(answer["called"] as? Int == 200 && answer["after"] as? Int == 200 && answer["gone"] as? Int == 401)
    }
}
