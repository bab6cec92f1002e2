import BasicsForTests
import EdgeConfiguration
import Encodings
import StateSurface
import Testing

@Suite("Logging in and out over the API")
struct LoginAPITests {
    @Test("A login without a session makes one, with everything in the body")
    func created() async throws {
        let fixture = try await APIFixture()
        let account = try await fixture.account()
        let answer = try await fixture.login()
        #expect(answer.status == 200)
        #expect(answer.text("session") == "created")
        #expect(answer.text("user_id") == account.userID)
        #expect(answer.text("tenant_id") == "acme")
        #expect(answer.text("token_type") == "Bearer")
        #expect(answer.json["expires_in"]?.int64Value == 900)
        #expect(answer.refreshToken?.hasPrefix("ref_") == true)
        let me = try await fixture.send("GET", "/api/auth/me", Ask(token: answer.token))
        #expect(me.text("email") == "ada@example.com")
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: answer.secret)).status == 200)
    }

    @Test("A wrong password and an unknown e-mail get the same answer, byte for byte")
    func wrongPassword() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        func attempt(_ email: String) async throws -> Answer {
            try await fixture.send(
                "POST", "/api/auth/login", Ask(#"{"email":"\#(email)","password":"not this one"}"#))
        }
        let (wrong, unknown) = (try await attempt("ada@example.com"), try await attempt("eve@example.com"))
        #expect(wrong.status == 401 && wrong.code == "invalid_credentials" && wrong.bytes == unknown.bytes)
        #expect(wrong.text("detail") == "E-mail or password is wrong.")
    }

    @Test("A login with an anonymous session's secret keeps its id and kills the secret")
    func upgraded() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let made = try await fixture.anonymous()
        let answer = try await fixture.login(secret: made.secret)
        #expect(answer.text("session") == "upgraded")
        #expect(answer.sessionID == made.sessionID)
        let old = try await fixture.send("GET", "/api/session/\(made.sessionID)", Ask(secret: made.secret))
        #expect(old.status == 403)
    }

    @Test("Naming a session without its secret makes a new one")
    func namedWithoutSecret() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let (victim, mine) = (try await fixture.anonymous(), try await fixture.anonymous())
        let body =
            #"{"email":"ada@example.com","password":"\#(APIFixture.password)","session_id":"\#(victim.sessionID)"}"#
        for secret in [nil, mine.secret] {
            let answer = try await fixture.send("POST", "/api/auth/login", Ask(body, secret: secret))
            #expect(answer.text("session") == "created")
            #expect(answer.sessionID != victim.sessionID && answer.sessionID != mine.sessionID)
        }
    }

    @Test("Logging in again resumes one's own session; the old family is dead")
    func resumed() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let first = try await fixture.login()
        let second = try await fixture.login(secret: first.secret)
        #expect(second.text("session") == "resumed")
        #expect(second.sessionID == first.sessionID)
        #expect(second.secret != first.secret)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: first.token)).status == 401)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: second.token)).status == 200)
        let old = try await fixture.send(
            "POST", "/api/auth/refresh", Ask(#"{"refresh_token":"\#(first.refreshToken ?? "")"}"#))
        #expect(old.status == 401 && old.code == "invalid_grant")
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: second.secret)).status == 200)
    }

    @Test("A session of another user is a conflict, and nothing changes")
    func foreign() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        _ = try await fixture.account("bob@example.com")
        let ada = try await fixture.login()
        let bob = try await fixture.login("bob@example.com", secret: ada.secret)
        #expect(bob.status == 409 && bob.code == "session_conflict")
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: ada.secret)).status == 200)
    }

    @Test("The secret of a race that was lost is a conflict to others; its owner may log in with it again")
    func previousSecret() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        _ = try await fixture.account("bob@example.com")
        let made = try await fixture.anonymous()
        _ = try await fixture.login(secret: made.secret)
        #expect(try await fixture.login("bob@example.com", secret: made.secret).code == "session_conflict")
        let again = try await fixture.login(secret: made.secret)
        #expect(again.status == 200 && again.sessionID == made.sessionID)
        fixture.clock.advance(by: 11_000)
        let late = try await fixture.login(secret: made.secret)
        #expect(late.text("session") == "created" && late.sessionID != made.sessionID)
    }

    @Test("A logout by a guest's secret ends the family as well")
    func guestLogout() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        let guest = try await fixture.send("POST", "/api/session/create", Ask(token: login.token))
        #expect(try await fixture.send("POST", "/api/auth/logout", Ask(secret: guest.secret)).status == 204)
        let me = try await fixture.send("GET", "/api/auth/me", Ask(token: login.token))
        #expect(me.status == 401 && me.code == "invalid_token")
        #expect(me.header("WWW-Authenticate") == #"Bearer realm="gatehouse", error="invalid_token""#)
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: login.secret)).status == 410)
    }

    @Test("A refresh whose home session has ended is refused")
    func homeless() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        fixture.clock.advance(by: 13 * 3_600_000)
        let answer = try await fixture.send(
            "POST", "/api/auth/refresh", Ask(#"{"refresh_token":"\#(login.refreshToken ?? "")"}"#))
        #expect(answer.status == 401 && answer.code == "invalid_grant")
    }

    @Test("Of two concurrent logins on one session exactly one wins, of one user or two", arguments: [true, false])
    func race(sameUser: Bool) async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        _ = try await fixture.account("bob@example.com")
        for _ in 0..<20 {
            let made = try await fixture.anonymous()
            async let one = fixture.login(secret: made.secret)
            async let two = fixture.login(sameUser ? "ada@example.com" : "bob@example.com", secret: made.secret)
            let answers = try await [one, two]
            let winners = answers.filter { $0.status == 200 && $0.sessionID == made.sessionID }
            #expect(winners.count >= 1)
            if !sameUser {
                #expect(answers.map(\.status).sorted() == [200, 409])
            }
        }
    }

    @Test("Every refusal of a password is the same, and failures are limited")
    func refusals() async throws {
        let fixture = try await APIFixture { $0.limits.loginPerMinute = 3 }
        _ = try await fixture.account()
        func attempt(_ email: String) async throws -> Answer {
            try await fixture.send("POST", "/api/auth/login", Ask(#"{"email":"\#(email)","password":"wrong"}"#))
        }
        let wrong = try await attempt("ada@example.com")
        let unknown = try await attempt("eve@example.com")
        #expect(wrong.status == 401 && wrong.code == "invalid_credentials")
        #expect(wrong.bytes == unknown.bytes)
        _ = try await attempt("ada@example.com")
        _ = try await attempt(" ADA@example.com")
        let limited = try await attempt("ada@example.com")
        #expect(limited.status == 429 && limited.header("Retry-After") != nil)
    }

    @Test("A browser's login sets both cookies and shows neither secret; refresh takes the cookie")
    func cookies() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let body = #"{"email":"ada@example.com","password":"\#(APIFixture.password)"}"#
        let login = try await fixture.send("POST", "/api/auth/login", Ask(body, isBrowser: true))
        #expect(login.secret == nil && login.refreshToken == nil)
        let refresh = try #require(login.cookie("__Host-gatehouse-refresh"))
        let next = try await fixture.send("POST", "/api/auth/refresh", Ask(refreshCookie: refresh, isBrowser: true))
        #expect(next.status == 200 && next.refreshToken == nil)
        #expect(next.cookie("__Host-gatehouse-refresh")?.hasPrefix("ref_") == true)
        let out = try await fixture.send(
            "POST", "/api/auth/logout", Ask(cookie: login.cookie("__Host-gatehouse"), isBrowser: true))
        #expect(out.status == 204)
        #expect(out.cookie("__Host-gatehouse") == "" && out.cookie("__Host-gatehouse-refresh") == "")
    }

    @Test("A refresh token repeats its successor within ten seconds, and reuse ends everything")
    func refresh() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        func refresh(_ token: String?) async throws -> Answer {
            try await fixture.send("POST", "/api/auth/refresh", Ask(#"{"refresh_token":"\#(token ?? "")"}"#))
        }
        let guest = try await fixture.send("POST", "/api/session/create", Ask(token: login.token))
        let next = try await refresh(login.refreshToken)
        #expect(next.status == 200 && next.sessionID == login.sessionID)
        let again = try await refresh(login.refreshToken)
        #expect(again.status == 200 && again.refreshToken == next.refreshToken)
        fixture.clock.advance(by: 11_000)
        let reuse = try await refresh(login.refreshToken)
        #expect(reuse.status == 401 && reuse.code == "invalid_grant")
        #expect(try await refresh(next.refreshToken).status == 401)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: next.token)).code == "invalid_token")
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: login.secret)).status == 410)
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: guest.secret)).status == 410)
    }

    @Test("A guest ends alone, the home takes the family with it")
    func families() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        let guest = try await fixture.send("POST", "/api/session/create", Ask(token: login.token))
        #expect(
            try await fixture.send("DELETE", "/api/session/\(guest.sessionID)", Ask(secret: guest.secret)).status == 204
        )
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: login.token)).status == 200)
        #expect(
            try await fixture.send("DELETE", "/api/session/\(login.sessionID)", Ask(token: login.token)).status == 204)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: login.token)).status == 401)
        let refresh = try await fixture.send(
            "POST", "/api/auth/refresh", Ask(#"{"refresh_token":"\#(login.refreshToken ?? "")"}"#))
        #expect(refresh.status == 401)
    }

    @Test("A logout takes any proof, and twice is as good as once", arguments: ["token", "secret", "refresh"])
    func logout(proof: String) async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        let ask =
            switch proof {
            case "token": Ask(token: login.token)
            case "secret": Ask(secret: login.secret)
            default: Ask(#"{"refresh_token":"\#(login.refreshToken ?? "")"}"#)
            }
        #expect(try await fixture.send("POST", "/api/auth/logout", ask).status == 204)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: login.token)).status == 401)
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: login.secret)).status == 410)
        #expect(try await fixture.send("POST", "/api/auth/logout", ask).status == 204)
    }

    @Test("An expired token logs out, a made-up one doesn't, and nothing is no proof")
    func logoutProofs() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        fixture.clock.advance(by: 20 * 60_000)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: login.token)).code == "token_expired")
        #expect(try await fixture.send("POST", "/api/auth/logout", Ask(token: "a.b.c")).code == "invalid_token")
        #expect(try await fixture.send("POST", "/api/auth/logout").code == "credentials_missing")
        #expect(try await fixture.send("POST", "/api/auth/logout", Ask(token: login.token)).status == 204)
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: login.secret)).status == 410)
    }

    @Test("A new password ends every other session of the user")
    func password() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let (here, there) = (try await fixture.login(), try await fixture.login())
        let guest = try await fixture.send("POST", "/api/session/create", Ask(token: here.token))
        let body = #"{"current":"\#(APIFixture.password)","new":"another good one"}"#
        #expect(try await fixture.send("POST", "/api/auth/password", Ask(body)).status == 401)
        #expect(try await fixture.send("POST", "/api/auth/password", Ask(body, token: here.token)).status == 204)
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: here.secret)).status == 200)
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: there.secret)).status == 410)
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: guest.secret)).status == 410)
        #expect(try await fixture.login().status == 401)
    }

    @Test("A node whose feed is silent refuses logins and refreshes")
    func silentFeed() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        fixture.loseFeed()
        let answer = try await fixture.login()
        #expect(answer.status == 503 && answer.code == "store_unavailable")
        #expect(answer.header("Retry-After") != nil)
    }

    @Test("Registration is there only where it is switched on")
    func register() async throws {
        let body = #"{"email":"new@example.com","password":"long enough"}"#
        let closed = try await APIFixture().send("POST", "/api/auth/register", Ask(body))
        #expect(closed.status == 404)
        let open = try await APIFixture { $0.accounts.registration = true }
        let made = try await open.send("POST", "/api/auth/register", Ask(body))
        #expect(made.status == 200 && made.text("email") == "new@example.com")
    }
}
