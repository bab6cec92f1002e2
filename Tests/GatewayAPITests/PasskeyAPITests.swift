import BasicsForTests
import Encodings
import Libcrypto
import Passkeys
import PasskeysForTests
import SecurityGuard
import StateSurface
import Testing

@testable import EdgeConfiguration

@Suite("Passkeys over the API")
struct PasskeyAPITests {
    // MARK: Use

    @Test(
        "A passkey that was registered while signed in upgrades an anonymous session",
        arguments: PasskeyAlgorithm.allCases)
    func story(algorithm: PasskeyAlgorithm) async throws {
        let scene = try await PasskeyScene(Authenticator(algorithm))
        let registered = try await scene.register(name: "Ada's phone")
        #expect(registered.status == 201 && registered.text("name") == "Ada's phone")
        #expect(registered.text("id") == Base64URL.encode(scene.authenticator.credentialID))
        #expect(registered.json["last_used_at"] == .null)

        let anonymous = try await scene.fixture.anonymous()
        let answer = try await scene.logIn(anonymous.secret)
        #expect(answer.status == 200 && answer.text("session") == "upgraded")
        #expect(answer.sessionID == anonymous.sessionID && answer.secret != anonymous.secret)
        #expect(answer.text("user_id") == scene.account.userID)
        let login = try await scene.fixture.login()
        #expect(Set(answer.json.names) == Set(login.json.names))
        #expect(try await scene.fixture.send("GET", "/api/auth/me", Ask(token: answer.token)).status == 200)
        let families = try await scene.fixture.state.liveFamilies(userID: scene.account.userID)
        #expect(families.map(\.signIn?.acr).contains("phr"))
        let refresh = Ask(#"{"refresh_token":"\#(answer.refreshToken ?? "")"}"#)
        #expect(try await scene.fixture.send("POST", "/api/auth/refresh", refresh).status == 200)
        let old = try await scene.fixture.send("GET", "/api/session/current", Ask(secret: anonymous.secret))
        #expect(old.status == 403)
        #expect(scene.fixture.audited.contains { $0.name == .loginSucceeded && $0.reason == "passkey" })

        let list = try await scene.list()
        #expect(list.count == 1 && list.first?["last_used_at"]?.stringValue != nil)
    }

    @Test("The user's own session is resumed, and another user's is a conflict")
    func sessionsWithOwners() async throws {
        let scene = try await PasskeyScene()
        #expect(try await scene.register().status == 201)
        let resumed = try await scene.logIn(scene.secret, signCount: 2)
        #expect(resumed.text("session") == "resumed" && resumed.sessionID == scene.sessionID)
        _ = try await scene.fixture.account("bob@example.com")
        let bob = try await scene.fixture.login("bob@example.com")
        let conflict = try await scene.logIn(bob.secret, signCount: 3)
        #expect(conflict.status == 409 && conflict.code == "session_conflict")
        #expect(try await scene.fixture.send("GET", "/api/session/current", Ask(secret: bob.secret)).status == 200)
    }

    @Test("A browser gets its secrets as cookies, unless it asks for the body")
    func delivery() async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        for (count, inBody) in [(UInt32(2), false), (3, true)] {
            let anonymous = try await scene.fixture.anonymous()
            let answer = try await scene.logIn(
                anonymous.secret, signCount: count, isBrowser: true, also: inBody ? ["deliver": "body"] : [:])
            #expect(answer.status == 200 && (answer.secret != nil) == inBody)
            #expect((answer.cookie("__Host-gatehouse") != nil) == !inBody)
        }
    }

    @Test("The options name no credential for a sign-in, and the account's own for a registration")
    func options() async throws {
        let scene = try await PasskeyScene()
        let empty = try await scene.begin("register").json
        #expect(empty["excludeCredentials"]?.arrayValue?.isEmpty == true)
        #expect(empty["user"]?.objectValue?["name"]?.stringValue == "ada@example.com")
        _ = try await scene.register()
        #expect(try await scene.begin("register").json["excludeCredentials"]?.arrayValue?.count == 1)
        let options = try await scene.begin("login", secret: scene.fixture.anonymous().secret).json
        #expect(options["allowCredentials"] == .array([]) && options["rpId"] == "gate.example")
        #expect(options["userVerification"] == "required")
    }

    @Test("Passkeys are listed and removed by their owner alone; a removed one no longer signs in")
    func removal() async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        _ = try await scene.fixture.account("bob@example.com")
        let bob = try await scene.fixture.login("bob@example.com")
        let id = Base64URL.encode(scene.authenticator.credentialID)
        let path = "/api/auth/passkeys/\(id)"
        #expect(try await scene.list(bob.token).isEmpty)
        #expect(try await scene.fixture.send("DELETE", path, Ask(token: bob.token)).code == "not_found")
        #expect(try await scene.fixture.send("DELETE", path).status == 401)
        #expect(try await scene.fixture.send("GET", "/api/auth/passkeys").status == 401)
        #expect(try await scene.list().count == 1)
        #expect(try await scene.fixture.send("DELETE", path, Ask(token: scene.token)).status == 204)
        #expect(try await scene.fixture.send("DELETE", path, Ask(token: scene.token)).status == 404)
        #expect(try await scene.list().isEmpty)
        let refused = try await scene.logIn(scene.fixture.anonymous().secret)
        #expect(refused.code == "invalid_credentials" && scene.reason == "credential_unknown")
    }

    @Test("An account has at most twenty passkeys")
    func limit() async throws {
        let scene = try await PasskeyScene()
        for number in 0..<20 {
            var authenticator = scene.authenticator
            authenticator.credentialID = Digest.sha256("\(number)".utf8)
            #expect(try await scene.register(authenticator).status == 201)
        }
        let begun = try await scene.begin("register")
        #expect(begun.status == 400 && begun.code == "invalid_request")
        #expect(try await scene.list().count == 20)
    }

    // MARK: Who may

    @Test("Registering takes an access token and a session of the same user; signing in takes a session")
    func proofs() async throws {
        let scene = try await PasskeyScene()
        let fixture = scene.fixture
        let anonymous = try await fixture.anonymous()
        _ = try await fixture.account("bob@example.com")
        let bob = try await fixture.login("bob@example.com")
        for step in ["begin", "finish"] {
            let path = "/api/auth/passkey/register/\(step)"
            #expect(try await fixture.send("POST", path).code == "credentials_missing")
            #expect(try await fixture.send("POST", path, Ask(secret: scene.secret)).code == "credentials_missing")
            #expect(try await fixture.send("POST", path, Ask(token: scene.token)).code == "credentials_missing")
            for secret in [anonymous.secret, bob.secret] {
                let answer = try await fixture.send("POST", path, Ask(token: scene.token, secret: secret))
                #expect(answer.status == 403 && answer.code == "session_mismatch")
            }
            let login = "/api/auth/passkey/login/\(step)"
            #expect(try await fixture.send("POST", login).code == "credentials_missing")
            let stale = Ask(secret: "sec_" + Base64URL.encode([UInt8](repeating: 7, count: 32)))
            #expect(try await fixture.send("POST", login, stale).code == "session_mismatch")
        }
        let unknown = Ask(#"{"email":"ada@example.com"}"#, secret: anonymous.secret)
        #expect(try await fixture.send("POST", "/api/auth/passkey/login/begin", unknown).code == "unknown_member")
        #expect(try await fixture.send("POST", "/api/auth/passkey/login/finish", unknown).code == "unknown_member")
        fixture.loseFeed()
        let silent = try await fixture.send(
            "POST", "/api/auth/passkey/login/begin", Ask(secret: anonymous.secret))
        #expect(silent.status == 503 && silent.code == "store_unavailable")
    }

    @Test("A disabled account neither signs in nor registers")
    func disabled() async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        let anonymous = try await scene.fixture.anonymous()
        #expect(try await scene.fixture.guarding.accounts.disable(userID: scene.account.userID))
        let answer = try await scene.logIn(anonymous.secret)
        #expect(answer.status == 401 && answer.code == "invalid_credentials" && scene.reason == "disabled")
        #expect(try await scene.begin("register").status == 401)
    }

    @Test("Failures count against the limits of logins, and successes do not")
    func limits() async throws {
        let scene = try await PasskeyScene { $0.limits.loginPerMinute = 5 }
        _ = try await scene.register()
        for count in 2..<9 as Range<UInt32> {
            let answer = try await scene.logIn(scene.fixture.anonymous().secret, signCount: count)
            #expect(answer.status == 200)
        }
        var liar = scene.authenticator
        liar.editSignature = { $0.map { $0 ^ 1 } }
        var statuses: [Int] = []
        for _ in 0..<7 {
            statuses.append(try await scene.logIn(scene.fixture.anonymous().secret, as: liar).status)
        }
        #expect(statuses == [401, 401, 401, 401, 401, 429, 429])
    }

    // MARK: Lies

    @Test("Every lie about a sign-in is one answer, and the reason is in the audit log", arguments: PasskeyLie.ofSignIn)
    func lies(_ lie: PasskeyLie) async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        var authenticator = scene.authenticator
        authenticator.signCount = 9
        let anonymous = try await scene.fixture.anonymous()
        let options = try await scene.begin("login", secret: anonymous.secret).json
        lie.tell(&authenticator)
        let answer = try await scene.finish("login", try authenticator.assertion(options), secret: anonymous.secret)
        #expect(answer.status == 401 && answer.code == "invalid_credentials" && scene.reason == lie.reason)
        #expect(answer.text("detail") == "The passkey was not accepted.")
        #expect(answer.json.names.sorted() == ["code", "detail", "request_id", "status", "title", "type"])
        let session = try await scene.fixture.send("GET", "/api/session/current", Ask(secret: anonymous.secret))
        #expect(session.status == 200 && session.text("state") == "anonymous")
    }

    @Test("No lie about a registration makes a passkey", arguments: PasskeyLie.ofRegistration)
    func registrationLies(_ lie: PasskeyLie) async throws {
        let scene = try await PasskeyScene()
        var authenticator = scene.authenticator
        lie.tell(&authenticator)
        let answer = try await scene.register(authenticator)
        #expect(answer.status == 400 && answer.code == "invalid_request")
        #expect(scene.fixture.audited.last?.name == .passkeyRefused && scene.reason == lie.reason)
        #expect(try await scene.list().isEmpty)
    }

    @Test("A ceremony is finished once, by the session that began it, of its kind, and within five minutes")
    func ceremonies() async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        let (mine, other) = (try await scene.fixture.anonymous(), try await scene.fixture.anonymous())
        func options() async throws -> JSONObject { try await scene.begin("login", secret: mine.secret).json }
        var authenticator = scene.authenticator
        authenticator.signCount = 9

        // Another session's.
        let stolen = try authenticator.assertion(try await options())
        #expect(try await scene.finish("login", stolen, secret: other.secret).code == "invalid_credentials")
        #expect(scene.reason == "ceremony_of_other_session")
        // Taken by the attempt.
        #expect(try await scene.finish("login", stolen, secret: mine.secret).code == "invalid_credentials")
        #expect(scene.reason == "ceremony_unknown")
        // Of a registration.
        let foreignKind = try authenticator.assertion(try await scene.begin("register").json)
        #expect(try await scene.finish("login", foreignKind, secret: scene.secret).code == "invalid_credentials")
        #expect(scene.reason == "ceremony_unknown")
        // Late.
        let late = try authenticator.assertion(try await options())
        scene.fixture.clock.advance(by: 300_000)
        #expect(try await scene.finish("login", late, secret: mine.secret).code == "invalid_credentials")
        #expect(scene.reason == "ceremony_unknown")
        // Replayed.
        let good = try authenticator.assertion(try await options())
        let answer = try await scene.finish("login", good, secret: mine.secret)
        #expect(answer.status == 200)
        #expect(try await scene.finish("login", good, secret: answer.secret).code == "invalid_credentials")
        #expect(scene.reason == "ceremony_unknown")
        // Begun before the session's secret was rotated.
        let before = try await scene.begin("login", secret: answer.secret).json
        let again = try await scene.fixture.login(secret: answer.secret)
        authenticator.signCount = 10
        let rotated = try authenticator.assertion(before)
        #expect(try await scene.finish("login", rotated, secret: again.secret).code == "invalid_credentials")
        #expect(scene.reason == "ceremony_of_other_session")
    }

    @Test("A session has at most ten ceremonies under way; a further one replaces the oldest")
    func pending() async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        let anonymous = try await scene.fixture.anonymous()
        var begun: [JSONObject] = []
        for _ in 0..<11 {
            scene.fixture.clock.advance(by: 1)
            begun.append(try await scene.begin("login", secret: anonymous.secret).json)
        }
        var authenticator = scene.authenticator
        authenticator.signCount = 9
        let oldest = try await scene.finish(
            "login", try authenticator.assertion(begun[0]), secret: anonymous.secret)
        #expect(oldest.code == "invalid_credentials" && scene.reason == "ceremony_unknown")
        let second = try await scene.finish(
            "login", try authenticator.assertion(begun[1]), secret: anonymous.secret)
        #expect(second.status == 200)
    }

    @Test("A counter that does not go on is refused, also of two answers at once")
    func counter() async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        #expect(try await scene.logIn(scene.fixture.anonymous().secret, signCount: 5).status == 200)
        for count in [5, 4] as [UInt32] {
            let answer = try await scene.logIn(scene.fixture.anonymous().secret, signCount: count)
            #expect(answer.code == "invalid_credentials" && scene.reason == "counter_regressed")
        }
        #expect(scene.fixture.audited.last(where: { $0.name == .loginRefused })?.subject == scene.account.userID)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await scene.logIn(scene.fixture.anonymous().secret, signCount: 6).status
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.sorted() == [200, 401, 401, 401])
    }

    @Test("A credential that another account has is not registered again")
    func known() async throws {
        let scene = try await PasskeyScene()
        _ = try await scene.register()
        _ = try await scene.fixture.account("bob@example.com")
        let bob = try await scene.fixture.login("bob@example.com")
        let options = try await scene.begin("register", token: bob.token, secret: bob.secret).json
        let answer = try await scene.finish(
            "register", try scene.authenticator.registration(options), token: bob.token, secret: bob.secret)
        #expect(answer.status == 400 && scene.reason == "credential_known")
        #expect(try await scene.list(bob.token).isEmpty)
    }
}
