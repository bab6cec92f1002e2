import BasicsForTests
import EdgeConfiguration
import Encodings
import Testing

@Suite("Sessions over the API")
struct SessionAPITests {
    @Test("An anonymous session is handed out with its secret and found by it")
    func anonymous() async throws {
        let fixture = try await APIFixture()
        let made = try await fixture.anonymous()
        #expect(made.status == 200)
        #expect(made.text("state") == "anonymous")
        #expect(made.json["user_id"] == .null)
        #expect(made.header("Set-Cookie") == nil)
        let found = try await fixture.send("GET", "/api/session/current", Ask(secret: made.secret))
        #expect(found.status == 200)
        #expect(found.sessionID == made.sessionID)
        #expect(found.secret == nil)
        let named = try await fixture.send("GET", "/api/session/\(made.sessionID)", Ask(secret: made.secret))
        #expect(named.status == 200)
    }

    @Test("A live secret gets its own session back, unless a fresh one is wanted")
    func createAgain() async throws {
        let fixture = try await APIFixture()
        let made = try await fixture.anonymous()
        let again = try await fixture.send("POST", "/api/session/create-anonymous", Ask(secret: made.secret))
        #expect(again.sessionID == made.sessionID)
        #expect(again.secret == nil)
        let fresh = try await fixture.send(
            "POST", "/api/session/create-anonymous", Ask(#"{"fresh":true}"#, secret: made.secret))
        #expect(fresh.sessionID != made.sessionID)
        #expect(fresh.secret != nil)
    }

    @Test("A browser gets its secret as a cookie only, unless it asks for the body")
    func delivery() async throws {
        let fixture = try await APIFixture()
        let made = try await fixture.send("POST", "/api/session/create-anonymous", Ask(isBrowser: true))
        #expect(made.secret == nil)
        let cookie = try #require(made.cookie("__Host-gatehouse"))
        #expect(cookie.hasPrefix("sec_"))
        let found = try await fixture.send("GET", "/api/session/current", Ask(cookie: cookie, isBrowser: true))
        #expect(found.sessionID == made.sessionID)
        let inBody = try await fixture.send(
            "POST", "/api/session/create-anonymous", Ask(#"{"deliver":"body"}"#, isBrowser: true))
        #expect(inBody.secret != nil)
        #expect(inBody.cookie("__Host-gatehouse") == nil)
    }

    @Test("Without a credential 401, with one that opens nothing the same 403 for unknown and foreign")
    func closed() async throws {
        let fixture = try await APIFixture()
        let mine = try await fixture.anonymous()
        let other = try await fixture.anonymous()
        let none = try await fixture.send("GET", "/api/session/\(other.sessionID)")
        #expect(none.status == 401 && none.code == "credentials_missing")
        let foreign = try await fixture.send("GET", "/api/session/\(other.sessionID)", Ask(secret: mine.secret))
        let unknown = try await fixture.send(
            "GET", "/api/session/ses_AAAAAAAAAAAAAAAAAAAAAA", Ask(secret: mine.secret))
        let odd = try await fixture.send("GET", "/api/session/what", Ask(secret: mine.secret))
        #expect(foreign.status == 403 && foreign.code == "session_mismatch")
        #expect(foreign.bytes == unknown.bytes)
        #expect(foreign.bytes == odd.bytes)
    }

    @Test(
        "A credential of another kind in the path or the body is told before anything is looked up",
        arguments: [
            ("GET", "/api/session/sec_AAAA", Ask()),
            ("POST", "/api/auth/refresh", Ask(#"{"refresh_token":"sec_AAAA"}"#)),
            ("POST", "/api/auth/login", Ask(#"{"email":"a@b","password":"c","session_id":"sec_AAAA"}"#)),
            ("PATCH", "/api/session/ses_AAAAAAAAAAAAAAAAAAAAAA/upgrade", Ask(#"{"access_token":"tkt_AAAA"}"#)),
        ])
    func swapped(method: String, path: String, ask: Ask) async throws {
        let answer = try await APIFixture().send(method, path, ask)
        #expect(answer.status == 400)
        #expect(answer.code == "credentials_swapped")
    }

    @Test("A live cookie beside another secret is refused, a dead one is cleared and ignored")
    func twoSecrets() async throws {
        let fixture = try await APIFixture()
        let (one, two) = (try await fixture.anonymous(), try await fixture.anonymous())
        let both = try await fixture.send(
            "GET", "/api/session/current", Ask(secret: one.secret, cookie: two.secret))
        #expect(both.status == 400 && both.code == "invalid_request")
        _ = try await fixture.send("DELETE", "/api/session/\(two.sessionID)", Ask(secret: two.secret))
        let dead = try await fixture.send(
            "GET", "/api/session/current", Ask(secret: one.secret, cookie: two.secret))
        #expect(dead.status == 200)
        #expect(dead.cookie("__Host-gatehouse") == "")
        let alone = try await fixture.send("GET", "/api/session/current", Ask(cookie: two.secret))
        #expect(alone.status == 401 && alone.code == "credentials_missing")
        #expect(alone.cookie("__Host-gatehouse") == "")
    }

    @Test("An ended session is 410 to its last secret, and 403 to an upgrade")
    func ended() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let made = try await fixture.anonymous()
        let token = try await fixture.login().token
        let path = "/api/session/\(made.sessionID)"
        #expect(try await fixture.send("DELETE", path, Ask(secret: made.secret)).status == 204)
        let gone = try await fixture.send("GET", path, Ask(secret: made.secret))
        #expect(gone.status == 410 && gone.code == "session_ended")
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: made.secret)).status == 410)
        let upgrade = try await fixture.send("PATCH", path + "/upgrade", Ask(token: token, secret: made.secret))
        #expect(upgrade.status == 403 && upgrade.code == "session_mismatch")
    }

    @Test("An upgrade keeps the id, rotates the secret and refuses another owner")
    func upgrade() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        _ = try await fixture.account("bob@example.com")
        let made = try await fixture.anonymous()
        let ada = try await fixture.login()
        let bob = try await fixture.login("bob@example.com")
        let path = "/api/session/\(made.sessionID)/upgrade"
        let noSecret = try await fixture.send("PATCH", path, Ask(token: ada.token))
        #expect(noSecret.status == 401)
        let identity = try await fixture.send(
            "PATCH", path, Ask(#"{"user_id":"usr_other"}"#, token: ada.token, secret: made.secret))
        #expect(identity.status == 403 && identity.code == "identity_mismatch")
        let upgraded = try await fixture.send(
            "PATCH", path, Ask(#"{"access_token":"\#(ada.token)","metadata":{"a":1}}"#, secret: made.secret))
        #expect(upgraded.status == 200)
        #expect(upgraded.sessionID == made.sessionID)
        #expect(upgraded.text("state") == "authenticated")
        #expect(upgraded.secret != made.secret)
        let foreign = try await fixture.send("PATCH", path, Ask(token: bob.token, secret: upgraded.secret))
        #expect(foreign.status == 409 && foreign.code == "session_conflict")
        let old = try await fixture.send("GET", "/api/session/current", Ask(secret: made.secret))
        #expect(old.status == 403)
        fixture.clock.advance(by: 11_000)
        let late = try await fixture.send("PATCH", path, Ask(token: ada.token, secret: made.secret))
        #expect(late.status == 403)
    }

    @Test("The secret before may repeat the very same upgrade for ten seconds, in a cookie too")
    func repeatedUpgrade() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let made = try await fixture.anonymous()
        let token = try await fixture.login().token
        let path = "/api/session/\(made.sessionID)/upgrade"
        _ = try await fixture.send("PATCH", path, Ask(token: token, secret: made.secret))
        let again = try await fixture.send("PATCH", path, Ask(token: token, cookie: made.secret, isBrowser: true))
        #expect(again.status == 200)
        let cookie = try #require(again.cookie("__Host-gatehouse"))
        #expect(try await fixture.send("GET", "/api/session/current", Ask(cookie: cookie)).status == 200)
        fixture.clock.advance(by: 11_000)
        let late = try await fixture.send("PATCH", path, Ask(token: token, cookie: made.secret, isBrowser: true))
        #expect(late.status == 401 && late.cookie("__Host-gatehouse") == "")
    }

    @Test("Of two users upgrading one session at once, one owns it and the other is told 409")
    func upgradeRace() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        _ = try await fixture.account("bob@example.com")
        let tokens = [try await fixture.login().token, try await fixture.login("bob@example.com").token]
        for _ in 0..<20 {
            let made = try await fixture.anonymous()
            let path = "/api/session/\(made.sessionID)/upgrade"
            async let one = fixture.send("PATCH", path, Ask(token: tokens[0], secret: made.secret))
            async let two = fixture.send("PATCH", path, Ask(token: tokens[1], secret: made.secret))
            let statuses = try await [one.status, two.status]
            #expect(statuses.sorted() == [200, 409])
        }
    }

    @Test("An idle session is 410 as expired, and using it keeps it")
    func expiry() async throws {
        let fixture = try await APIFixture()
        let made = try await fixture.anonymous()
        for _ in 0..<3 {
            fixture.clock.advance(by: 20 * 60_000)
            let seen = try await fixture.send("GET", "/api/session/current", Ask(secret: made.secret))
            #expect(seen.status == 200)
        }
        fixture.clock.advance(by: 31 * 60_000)
        let gone = try await fixture.send("GET", "/api/session/\(made.sessionID)", Ask(secret: made.secret))
        #expect(gone.status == 410 && gone.code == "session_expired")
    }

    @Test("Both carriers of the access token at once are refused")
    func twoCarriers() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let made = try await fixture.anonymous()
        let token = try await fixture.login().token
        let answer = try await fixture.send(
            "PATCH", "/api/session/\(made.sessionID)/upgrade",
            Ask(#"{"access_token":"\#(token)"}"#, token: token, secret: made.secret))
        #expect(answer.status == 400 && answer.code == "invalid_request")
    }

    @Test("A user's list has only that user's live sessions, newest first")
    func list() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        _ = try await fixture.account("bob@example.com")
        let first = try await fixture.login()
        fixture.clock.advance(by: 5)
        _ = try await fixture.login("bob@example.com")
        let second = try await fixture.send("POST", "/api/session/create", Ask(token: first.token))
        let answer = try await fixture.send("GET", "/api/session", Ask(token: first.token))
        let ids = answer.json["sessions"]?.arrayValue?.compactMap { $0.objectValue?["session_id"]?.stringValue }
        #expect(ids == [second.sessionID, first.sessionID])
    }

    @Test("A ticket is for one's own authenticated session only")
    func ticket() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        let anonymous = try await fixture.anonymous()
        let good = try await fixture.send("POST", "/api/session/\(login.sessionID)/ticket", Ask(token: login.token))
        #expect(good.status == 200)
        #expect(good.text("ticket")?.hasPrefix("tkt_") == true)
        #expect(good.json["expires_in"]?.int64Value == 30)
        let foreign = try await fixture.send(
            "POST", "/api/session/\(anonymous.sessionID)/ticket", Ask(token: login.token))
        #expect(foreign.status == 403)
        let secretOnly = try await fixture.send(
            "POST", "/api/session/\(login.sessionID)/ticket", Ask(secret: login.secret))
        #expect(secretOnly.status == 401)
    }

    @Test("Unknown members are named, wrong types and doubled members refused")
    func bodies() async throws {
        let fixture = try await APIFixture()
        func send(_ body: String) async throws -> Answer {
            try await fixture.send("POST", "/api/session/create-anonymous", Ask(body))
        }
        let unknown = try await send(#"{"role":"admin"}"#)
        #expect(unknown.status == 400 && unknown.code == "unknown_member")
        #expect(unknown.text("detail")?.contains("'role'") == true)
        for body in [#"{"fresh":"yes"}"#, #"{"metadata":[]}"#, "[]", "{", #"{"fresh":true,"fr\u0065sh":false}"#] {
            let answer = try await send(body)
            #expect(answer.status == 400 && answer.code == "invalid_request", "\(body)")
        }
        let large = try await send(#"{"metadata":{"a":"\#(String(repeating: "x", count: 1100))"}}"#)
        #expect(large.status == 400)
    }

    @Test("Unknown paths are 404, known ones with another method 405 with Allow")
    func methods() async throws {
        let fixture = try await APIFixture()
        #expect(try await fixture.send("GET", "/api/nothing").status == 404)
        let create = try await fixture.send("GET", "/api/session/create-anonymous")
        #expect(create.status == 405 && create.code == "method_not_allowed")
        #expect(create.header("Allow") == "POST")
        let named = try await fixture.send("PUT", "/api/session/ses_x")
        #expect(named.header("Allow") == "GET, DELETE, HEAD")
        #expect(try await fixture.send("POST", "/api/auth/register").status == 404)
    }

    @Test("Anonymous sessions are limited per address")
    func limited() async throws {
        let fixture = try await APIFixture { $0.limits.anonymousPerMinute = 2 }
        #expect(try await fixture.anonymous().status == 200)
        #expect(try await fixture.anonymous().status == 200)
        let third = try await fixture.anonymous()
        #expect(third.status == 429 && third.code == "rate_limited")
        #expect(third.header("Retry-After") != nil)
    }

    @Test("An intent runs in one's own session")
    func intent() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        let body = #"{"id":"c1","intent":"echo","params":{"a":1}}"#
        let done = try await fixture.send(
            "POST", "/api/intent", Ask(body, token: login.token, sessionID: login.sessionID))
        #expect(done.status == 200)
        #expect(done.json["data"] == ["a": 1])
        let deep = #"{"intent":"echo","params":{"a":\#(String(repeating: "[", count: 20))"#
        let tooDeep = try await fixture.send(
            "POST", "/api/intent", Ask(deep, token: login.token, sessionID: login.sessionID))
        #expect(tooDeep.status == 400 && tooDeep.text("detail") == "The message is nested too deep.")
        #expect(try await fixture.send("POST", "/api/intent", Ask(body, token: login.token)).status == 401)
        let foreign = try await fixture.anonymous()
        let refused = try await fixture.send(
            "POST", "/api/intent", Ask(body, token: login.token, sessionID: foreign.sessionID))
        #expect(refused.status == 403)
    }
}
