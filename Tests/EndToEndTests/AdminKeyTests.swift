import BasicsForTests
import Foundation
import Testing

/// The signing keys, as the operator's API tells of them.
@Suite(.blocking) struct AdminKeyTests {
    @Test("A key is called what the command calls it: retiring while its tokens are accepted, then retired")
    func states() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin("limits: {enabled: false}")
        defer { gateway.stop() }
        func states() throws -> [String: String] {
            try admin.all("keys", limit: 10).reduce(into: [:]) { found, key in
                found[key["kid"] as? String ?? ""] = key["state"] as? String
            }
        }
        let old = try #require(try states().keys.first)
        func command(_ arguments: String...) throws -> String {
            let result = try GatewayProcess.run(["keys"] + arguments, in: gateway.directory)
            #expect(result.status == 0, "\(result.errors)")
            return result.output.trimmingCharacters(in: .newlines)
        }
        let new = try command("rotate", "--now")
        #expect(try states() == [old: "retiring", new: "active"])
        let listed = try JSONSerialization.jsonObject(with: Data(command("list", "--json").utf8)) as? [[String: Any]]
        for key in listed ?? [] {
            #expect(try states()[key["kid"] as? String ?? ""] == key["state"] as? String)
        }
        // It was signed with the old key.
        #expect(try admin.request("GET", "/api/admin/keys").status == 200)

        _ = try GatewayProcess.run(["keys", "retire", old], in: gateway.directory)
        #expect(
            try await eventually {
                let probe = AdminProbe(port: admin.port, token: try gateway.login(.operations).token)
                let keys = try probe.get("keys")["keys"] as? [[String: Any]] ?? []
                return keys.first { $0["kid"] as? String == old }?["state"] as? String == "retired"
            })
    }
}
