import Foundation
import GatewayForTests
import Testing

/// `POST /api/auth/logout` and `DELETE /api/session/{id}`: what ends, and what does not.
@Suite(.blocking) struct LogoutTests {
    @Test(
        "Any one proof logs out, before the answer, and as often as one likes",
        arguments: ["token", "secret", "refresh"])
    func proofs(kind: String) async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let (ada, bystander) = (try gateway.login(.ada), try gateway.login(.ada))
        func logOut() throws -> RawResponse {
            switch kind {
            case "token": try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer])
            case "secret": try gateway.request("POST", "/api/auth/logout", headers: [HeldSession(ada).field])
            default: try gateway.request("POST", "/api/auth/logout", json: ["refresh_token": ada.refreshToken])
            }
        }
        expectStatus(try logOut(), 204)
        expectRefused(try gateway.me(ada.token), 401, "invalid_token")
        expectRefused(try gateway.refresh(ada.refreshToken), 401, "invalid_grant")
        expectRefused(try gateway.session(ada.sessionID, HeldSession(ada).field), 410, "session_ended")
        expectRefused(try gateway.upgrade(HeldSession(ada), bystander.token), 403, "session_mismatch")
        expectStatus(try logOut(), 204, "already ended")
        #expect(try gateway.isHealthy(bystander.token))
    }

    @Test("Without a proof, or with a false one, nothing ends")
    func noProof() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let path = "/api/auth/logout"
        expectRefused(try gateway.request("POST", path), 401, "credentials_missing")
        let stray = "sec_\(String(repeating: "A", count: 43))"
        expectRefused(
            try gateway.request("POST", path, headers: [("Session-Secret", stray)]), 403, "session_mismatch")
        let forged = ("Authorization", "Bearer \(ada.token.dropLast(6))AAAAAA")
        expectRefused(try gateway.request("POST", path, headers: [forged]), 401, "invalid_token")
        let unknown = "ref_\(String(repeating: "A", count: 43))"
        expectRefused(try gateway.request("POST", path, json: ["refresh_token": unknown]), 401, "invalid_grant")
        expectRefused(try gateway.request("POST", path, json: ["session_id": ada.sessionID]), 400, "unknown_member")
        #expect(try gateway.isHealthy(ada.token))
    }

    @Test("A token past its exp is still good for logging out, and for nothing else")
    func expired() async throws {
        let gateway = try await GatewayInProcess.start(
            "limits: {enabled: false}\ntokens: {access_token_lifetime: 5m, clock_skew: 0s}\n", users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        gateway.clock.advance(by: .seconds(5 * 60 + 1))
        expectRefused(try gateway.me(ada.token), 401, "token_expired")
        expectRefused(try gateway.request("GET", "/api/session", headers: [ada.bearer]), 401, "token_expired")
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]), 204)
        expectRefused(try gateway.refresh(ada.refreshToken), 401, "invalid_grant")
        expectRefused(try gateway.current(ada.sessionSecret), 410, "session_ended")
        expectStatus(try gateway.attemptLogin(.ada), 200)
    }

    @Test("A guest ends alone; the home takes its family, its tokens and its guests along")
    func guests() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let made = try gateway.request("POST", "/api/session/create", headers: [ada.bearer])
        let upgraded = try gateway.upgrade(try gateway.anonymous(), ada.token)
        let (guest, other) = (HeldSession(made.json), HeldSession(upgraded.json))
        func end(_ session: HeldSession) throws -> RawResponse {
            try gateway.request("DELETE", "/api/session/\(session.id)", headers: [session.field])
        }
        expectStatus(try end(guest), 204)
        expectRefused(try gateway.current(guest.secret), 410, "session_ended")
        #expect(try gateway.isHealthy(ada.token))
        expectStatus(try gateway.current(other.secret), 200)

        expectStatus(try end(HeldSession(ada)), 204)
        expectRefused(try gateway.me(ada.token), 401, "invalid_token")
        expectRefused(try gateway.current(other.secret), 410, "session_ended")
        expectRefused(try gateway.refresh(ada.refreshToken), 401, "invalid_grant")
        expectStatus(try gateway.attemptLogin(.ada), 200)
    }

    @Test("A browser's logout clears both cookies")
    func browser() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let browser = ("Sec-Fetch-Site", "same-origin")
        let login = try gateway.attemptLogin(.ada, headers: [browser])
        let secret = try #require(login.cookieValue("gatehouse"))
        let headers = [browser, ("Cookie", "gatehouse=\(secret)")]
        let answer = try gateway.request("POST", "/api/auth/logout", headers: headers)
        expectStatus(answer, 204)
        for name in ["gatehouse", "gatehouse-refresh"] { #expect(answer.cookieValue(name) == "") }
        expectRefused(
            try gateway.request("GET", "/api/session/current", headers: headers), 401, "credentials_missing")
    }
}
