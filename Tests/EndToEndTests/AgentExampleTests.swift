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
        let folders = ["Tests/EndToEndTests", "Tests/AuthorizationServerTests"].map(Self.root.appendingPathComponent)
        let files = try folders.flatMap {
            try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }
        for row in rows {
            let names = row.split(separator: "|").last?.matches(of: /`(\w+)\/(\w+)`/) ?? []
            #expect(!names.isEmpty, "\(row)")
            for name in names {
                // The suite's own file, and its extensions.
                let sources = try files.filter { file in
                    let parts = file.deletingPathExtension().lastPathComponent.split(separator: "+")
                    return file.pathExtension == "swift" && parts.first == name.1
                }.map { try String(contentsOf: $0, encoding: .utf8) }
                #expect(sources.contains { $0.contains("func \(name.2)(") }, "\(name.1)/\(name.2)")
            }
        }
    }
}
