import Foundation
import Testing

/// The main job, from the first page load to logout, through the built binary.
@Suite(.blocking) struct StoryTests {
    @Test("An anonymous session is upgraded by login, keeps its id and changes its secret")
    func loginUpgrades() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let anonymous = try gateway.request("POST", "/api/session/create-anonymous")
        let id = anonymous.json["session_id"] as? String ?? ""
        let secret = anonymous.json["session_secret"] as? String ?? ""
        #expect(anonymous.status == 200 && id.hasPrefix("ses_") && secret.hasPrefix("sec_"))

        let login = try gateway.login(.ada, headers: [("Session-Secret", secret)])
        #expect(login.outcome == "upgraded")
        #expect(login.sessionID == id)
        #expect(login.sessionSecret != secret)
        #expect(try gateway.isHealthy(login.token))

        let old = try gateway.request("GET", "/api/session/\(id)", headers: [("Session-Secret", secret)])
        #expect(old.status == 403 && old.code == "session_mismatch")
    }
}
