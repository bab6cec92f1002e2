import SecurityGuard
import Testing

/// What the edge knows of a token saves a verification; it never opens what a fresh look would not.
@Suite("Verdicts that the edge hands on")
struct TokenVerdictTests {
    @Test("A verdict counts for the token it was made on")
    func counts() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let token = try await fixture.login().token
        let verdict = fixture.guarding.judge(token: Array(token.utf8))
        let seen = try await fixture.send("GET", "/api/auth/me", Ask(token: token), verdict: verdict)
        #expect(seen.status == 200)
        let refused = try await fixture.send(
            "GET", "/api/auth/me", Ask(token: token), verdict: .failure(TokenFault(.tokenExpired, reason: "expired")))
        #expect(refused.status == 401 && refused.code == "token_expired")
    }

    @Test("A token that was revoked after the verdict is refused")
    func revokedSince() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let token = try await fixture.login().token
        let verdict = fixture.guarding.judge(token: Array(token.utf8))
        let out = try await fixture.send("POST", "/api/auth/logout", Ask(token: token), verdict: verdict)
        #expect(out.status == 204)
        let late = try await fixture.send("GET", "/api/auth/me", Ask(token: token), verdict: verdict)
        #expect(late.status == 401 && late.code == "invalid_token")
    }

    @Test("A token in the body is never judged by the verdict on another")
    func bodyToken() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let token = try await fixture.login().token
        let verdict = fixture.guarding.judge(token: Array(token.utf8))
        let made = try await fixture.anonymous()
        let path = "/api/session/\(made.sessionID)/upgrade"
        let forged = try await fixture.send(
            "PATCH", path, Ask(#"{"access_token":"eyJ.e30.AA"}"#, secret: made.secret), verdict: verdict)
        #expect(forged.status == 401 && forged.code == "invalid_token")
        let good = try await fixture.send(
            "PATCH", path, Ask(#"{"access_token":"\#(token)"}"#, secret: made.secret), verdict: verdict)
        #expect(good.status == 200)
    }
}
