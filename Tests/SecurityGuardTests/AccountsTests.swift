import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

@Suite("Accounts")
struct AccountsTests {
    let fixture: Fixture
    private let openTerms = RegistrationTerms(isOpen: true)
    init() async throws { fixture = try await Fixture() }

    func login(_ email: String, _ password: String = Fixture.password, tenant: String? = nil) async throws -> String {
        try await fixture.subject.authenticate(email: email, password: password, tenantID: tenant).userID
    }

    @Test(
        "The right password opens, however the e-mail is cased", arguments: ["ada@example.com", " ADA@Example.COM\n"])
    func rightPassword(email: String) async throws {
        let account = try await fixture.account()
        #expect(try await login(email) == account.userID)
        #expect(try await login(email, tenant: "acme") == account.userID)
    }

    @Test("Every wrong login is the same refusal, and the reason is in the audit log alone")
    func uniformRefusals() async throws {
        let account = try await fixture.account()
        _ = try await fixture.account("twice@example.com", tenant: "acme")
        _ = try await fixture.account("twice@example.com", tenant: "umbrella")
        let gone = try await fixture.account("gone@example.com")
        _ = try await fixture.subject.accounts.disable(userID: gone.userID)
        let attempts: [(String, String, String?)] = [
            ("ada@example.com", "wrong", nil), ("nobody@example.com", Fixture.password, nil),
            ("ada@example.com", Fixture.password, "umbrella"), ("twice@example.com", Fixture.password, nil),
            ("gone@example.com", Fixture.password, nil), ("ad\u{0061}\u{0301}@example.com", Fixture.password, nil),
            ("ada@example.com\0x", Fixture.password, nil), ("ada@example.com", Fixture.password + " ", nil),
        ]
        for (email, password, tenant) in attempts {
            let error = await #expect(throws: AuthError.self) { try await login(email, password, tenant: tenant) }
            #expect(error == AuthError(.invalidCredentials))
            #expect(error?.detail == "")
        }
        #expect(
            fixture.reasons(.loginRefused) == [
                "password_wrong", "account_unknown", "account_unknown", "tenant_ambiguous", "disabled",
                "account_unknown", "account_unknown", "password_wrong",
            ])
        #expect(try await login("twice@example.com", tenant: "umbrella") != account.userID)
    }

    @Test("A disabled account that is enabled again opens by its old password")
    func enable() async throws {
        let account = try await fixture.account()
        _ = try await fixture.subject.accounts.disable(userID: account.userID)
        await #expect(throws: AuthError.self) { try await login("ada@example.com") }
        #expect(try await fixture.subject.accounts.enable(userID: account.userID))
        #expect(try await !fixture.subject.accounts.enable(userID: account.userID))
        #expect(try await login("ada@example.com") == account.userID)
        await #expect(throws: AuthError.self) { try await fixture.subject.accounts.enable(userID: "usr_none") }
    }

    @Test("A password beyond 1024 bytes, or none, is refused before hashing", arguments: [0, 1025, 100_000])
    func passwordLength(count: Int) async throws {
        _ = try await fixture.account()
        let error = await #expect(throws: AuthError.self) {
            try await login("ada@example.com", String(repeating: "a", count: count))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A password with a NUL is refused: scrypt would not tell it from the one without")
    func nul() async throws {
        _ = try await fixture.account()
        await #expect(throws: AuthError(.invalidRequest)) {
            try await login("ada@example.com", Fixture.password + "\0")
        }
    }

    @Test("Passwords are neither cut nor normalised")
    func exactBytes() async throws {
        let long = String(repeating: "é", count: 512)
        _ = try await fixture.subject.register(email: "eve@example.com", password: long, terms: openTerms)
        #expect(try await !login("eve@example.com", long).isEmpty)
        let twin = String(repeating: "e\u{0301}", count: 300)
        _ = try await fixture.subject.register(email: "nfd@example.com", password: twin, terms: openTerms)
        await #expect(throws: AuthError(.invalidCredentials)) {
            try await login("nfd@example.com", String(repeating: "é", count: 300))
        }
    }

    @Test("One e-mail, however cased, is one account of a tenant")
    func duplicate() async throws {
        _ = try await fixture.account()
        await #expect(throws: AuthError(.emailTaken)) { try await fixture.account("ADA@example.com ") }
        _ = try await fixture.account(tenant: "umbrella")
    }

    @Test("What is no e-mail, tenant or scope makes no account")
    func malformed() async throws {
        for email in ["", "ada", "@x", "a@", "a b@x", "a@b@c", "a\u{0}@b", String(repeating: "a", count: 260) + "@b"] {
            await #expect(throws: AuthError(.invalidRequest)) { try await fixture.account(email) }
        }
        await #expect(throws: AuthError(.invalidRequest)) { try await fixture.account(tenant: "a b") }
        await #expect(throws: AuthError(.invalidRequest)) {
            try await fixture.subject.accounts.add(
                email: "a@b", password: "x", tenantID: nil, scope: ["a b"])
        }
    }

    @Test("Registration is closed unless its terms open it")
    func registration() async throws {
        await #expect(throws: AuthError(.registrationClosed)) {
            try await fixture.subject.register(
                email: "a@b.example", password: "x", terms: RegistrationTerms(isOpen: false))
        }
        let account = try await fixture.subject.register(email: "a@b.example", password: "x", terms: openTerms)
        #expect(account.tenantID.hasPrefix("ten_") && !account.emailVerified)
        #expect(account.scope == ["read", "write"])
    }

    @Test("A login raises the parameters of an old hash")
    func parametersAreRaised() async throws {
        var account = try await fixture.account()
        account.passwordHash = try PasswordHash.make(
            Array(Fixture.password.utf8), ScryptParameters(logN: 2, r: 8, p: 1)
        ).text
        #expect(try await fixture.state.replace(account: account))
        _ = try await login("ada@example.com")
        let stored = try #require(try await fixture.state.account(userID: account.userID))
        #expect(stored.passwordHash?.hasPrefix("$scrypt$ln=4,") == true)
        #expect(try await login("ada@example.com") == account.userID)
    }

    @Test("A changed password ends every other family and session of the user")
    func changePassword() async throws {
        let account = try await fixture.account()
        let mine = try await fixture.subject.openFamily(for: account)
        let other = try await fixture.subject.openFamily(for: account)
        let sessions: [(id: String, owner: String, family: String?)] = [
            ("mine", account.userID, mine.familyID), ("other", account.userID, other.familyID),
            ("loose", account.userID, nil), ("foreign", "usr_x", nil),
        ]
        for (id, owner, family) in sessions {
            try await fixture.state.insert(session: Sample.session(id, owner: owner, family: family))
        }
        await #expect(throws: AuthError(.invalidCredentials)) {
            try await fixture.subject.changePassword(userID: account.userID, current: "wrong", new: "n")
        }
        let ended = try await fixture.subject.changePassword(
            userID: account.userID, current: Fixture.password, new: "new", keepFamily: mine.familyID,
            keepSession: "mine")
        #expect(Set(ended) == ["other", "loose"])
        #expect(fixture.judge(mine.accessToken).isGood)
        #expect(fixture.judge(other.accessToken).fault?.reason == "revoked")
        #expect(try await login("ada@example.com", "new") == account.userID)
        await #expect(throws: AuthError(.invalidCredentials)) { try await login("ada@example.com") }
    }

    @Test("No event holds a password")
    func auditIsClean() async throws {
        let account = try await fixture.account()
        _ = try? await login("ada@example.com", "hunter2-wrong")
        _ = try await fixture.subject.changePassword(userID: account.userID, current: Fixture.password, new: "hunter3")
        let text = fixture.events.all.map { String(describing: $0) }.joined()
        #expect(!text.contains("hunter") && !text.contains(Fixture.password))
        #expect(!fixture.events.all.isEmpty)
    }
}
