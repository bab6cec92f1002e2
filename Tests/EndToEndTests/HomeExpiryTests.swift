import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// A home session that is not used any more ends as one that is logged out: with its family and its guests.
@Suite(.blocking) struct HomeExpiryTests {
    private static let yaml = """
        limits: {enabled: false}
        sessions: {idle: 10m}
        tokens: {access_token_lifetime: 15m, clock_skew: 0s}

        """

    @Test("When the home expires, its tokens, its guests and their sockets end, although the guests are in use")
    func idle() async throws {
        let gateway = try await GatewayInProcess.start(Self.yaml)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let made = try gateway.request("POST", "/api/session/create", headers: [ada.bearer])
        let guest = HeldSession(made.json)
        let paths = ["/api/runtime/agent", "/api/runtime/echo"]
        let visitors = try paths.map { try gateway.opened("\($0)?access_token=\(ada.token)&session_id=\(guest.id)") }
        gateway.clock.advance(by: .seconds(6 * 60))
        expectStatus(try gateway.current(guest.secret), 200)
        let bob = try gateway.login(.bob)
        let bystander = try gateway.opened("/api/runtime/agent?\(bob.query)")

        gateway.clock.advance(by: .seconds(5 * 60))
        let (took, ends) = try seconds { try visitors.map { try $0.closing() } }
        #expect(ends.allSatisfy { $0 == "4403 session_ended" } && took < .promptly, "\(ends) after \(took) s")
        #expect(try await eventually { try gateway.me(ada.token).code == "invalid_token" })
        expectRefused(try gateway.current(guest.secret), 410, "session_ended")
        expectRefused(try gateway.session(ada.sessionID, HeldSession(ada).field), 410, "session_expired")
        expectRefused(try gateway.refresh(ada.refreshToken), 401, "invalid_grant")

        try bystander.send(text: #"{"type":"intent","id":"a","intent":"echo"}"#)
        #expect(try bystander.message()?.json["id"] as? String == "a")
        #expect(try gateway.isHealthy(bob.token))
    }
}
