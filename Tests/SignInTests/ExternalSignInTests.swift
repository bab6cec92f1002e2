import BasicsForTests
import Encodings
import IdentityProviders
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Testing

@Suite("Signing in as an identity provider says")
struct ExternalSignInTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    private static let provider: ProviderConfiguration = {
        var provider = ProviderConfiguration(
            name: "idp", issuer: "https://idp.example", clientID: "client", clientAuthentication: .none)
        provider.tenancy = .fixed("acme")
        return provider
    }()

    private static let claims: JSONObject = [
        "sub": "person-1", "email": "ada@example.com", "email_verified": true, "name": "Ada", "groups": ["staff"],
        "acr": "phr", "sid": "idp-session-1",
    ]

    private func prove(
        _ provider: ProviderConfiguration = Self.provider, _ edit: (inout JSONObject) -> Void = { _ in },
        provenAt: Int64? = nil
    ) async throws -> ProvedAccount {
        var claims = Self.claims
        edit(&claims)
        let identity = try ExternalIdentity.read(claims, of: provider).get()
        return try await fixture.signIn.prove(identity, of: provider, provenAt: provenAt)
    }

    @Test("A new person gets an account, with what the provider says, whose e-mail is no login name")
    func made() async throws {
        let account = try await prove().account
        #expect(account.tenantID == "acme" && account.email == "ada@example.com" && account.emailVerified)
        #expect(account.name == "Ada" && account.groups == ["staff"] && account.scope == ["read"])
        #expect(try await fixture.store.account(userID: account.userID) == account)
        #expect(try await fixture.store.accounts(emailKey: "ada@example.com").isEmpty)
        await #expect(throws: AuthError.self) {
            try await fixture.signIn.provePassword(
                email: "ada@example.com", password: Fixture.password, tenantID: nil, clientAddress: Fixture.address)
        }
    }

    @Test("The same person has the same account, brought up to date; another subject or tenant is another person")
    func updated() async throws {
        let first = try await prove().account
        let second = try await prove().account
        #expect(second == first)
        let changed = try await prove(Self.provider) { claims in
            claims["email"] = "ada@new.example"
            claims["email_verified"] = false
            claims["groups"] = nil
            claims["name"] = nil
        }.account
        #expect(changed.userID == first.userID && changed.version == first.version + 1)
        #expect(changed.email == "ada@new.example" && !changed.emailVerified)
        // What the provider no longer says is no longer so: groups that were taken away are gone.
        #expect(changed.name == nil && changed.groups.isEmpty)
        #expect(try await fixture.store.account(userID: first.userID) == changed)
        let stranger = try await prove(Self.provider) { $0["sub"] = "person-2" }.account
        #expect(stranger.userID != first.userID)
        var elsewhere = Self.provider
        elsewhere.tenancy = .fixed("other")
        #expect(try await prove(elsewhere).account.userID != first.userID)
    }

    @Test("Of many who sign in as one person at once, all get the one account")
    func together() async throws {
        let users = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<12 {
                group.addTask { try await prove(Self.provider) { $0["name"] = .string("Ada \(index)") }.account.userID }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(users.count == 1)
    }

    @Test("With link_verified_email the account of the same verified e-mail is the person's, and keeps its login name")
    func linked() async throws {
        let ada = try await fixture.account().account
        #expect(try await prove().account.userID != ada.userID)
        var linking = Self.provider
        linking.linkVerifiedEmail = true
        linking.issuer = "https://other.example"
        let unverified = try await prove(linking) { claims in
            claims["sub"] = "person-3"
            claims["email_verified"] = false
        }.account
        #expect(unverified.userID != ada.userID)
        // By now three accounts of the tenant say this address; the login name decides.
        let linked = try await prove(linking) { $0["email"] = "ADA@example.com" }.account
        #expect(linked.userID == ada.userID && linked.email == "ada@example.com" && linked.emailKey == ada.emailKey)
        #expect(linked.name == "Ada" && linked.groups == ["staff"] && linked.passwordHash != nil)
        #expect(linked.scope == ada.scope)
        let proved = try await fixture.signIn.provePassword(
            email: "ada@example.com", password: Fixture.password, tenantID: "acme", clientAddress: Fixture.address)
        #expect(proved.account.userID == ada.userID)
    }

    @Test("claims.scope grants its scopes besides the default ones, at every sign-in anew")
    func scopes() async throws {
        var granting = Self.provider
        granting.claims.scope = "permissions"
        let granted = try await prove(granting) { $0["permissions"] = ["orders:write", "read"] }.account
        #expect(granted.scope == ["read", "orders:write"])
        #expect(try await prove(granting).account.scope == ["read"])
    }

    @Test("A disabled account is refused, is not changed, and the log says why")
    func disabled() async throws {
        let account = try await prove().account
        #expect(try await fixture.securityGuard.accounts.disable(userID: account.userID))
        fixture.audited.removeAll()
        await #expect(throws: AuthError(.invalidCredentials)) {
            _ = try await prove(Self.provider) { $0["name"] = "Mallory" }
        }
        #expect(fixture.audited.all == ["login.refused disabled"])
        #expect(try await fixture.store.account(userID: account.userID)?.name == "Ada")
    }

    @Test("The family keeps when and how its owner proved who they are, through refreshes")
    func facts() async throws {
        let now = fixture.clock.read()
        let proved = try await prove(Self.provider) { $0["auth_time"] = .integer(now / 1000 - 60) }
        let signedIn = try await fixture.signIn(proved)
        let wanted = SignInFacts(
            authenticatedAt: (now / 1000 - 60) * 1000, acr: "phr", provider: "idp", providerSession: "idp-session-1")
        #expect(try await fixture.store.family(id: signedIn.tokens.familyID)?.signIn == wanted)
        let refresh = try #require(signedIn.tokens.refreshToken)
        _ = try await fixture.signIn.refresh(refresh)
        #expect(try await fixture.store.family(id: signedIn.tokens.familyID)?.signIn == wanted)
        // Without auth_time it is the given moment, else now; a time to come counts as now.
        #expect(try await prove(provenAt: now - 5_000).facts?.authenticatedAt == now - 5_000)
        #expect(
            try await prove(Self.provider) { $0["auth_time"] = .integer(now / 1000 + 500) }.facts?.authenticatedAt
                == now)
        let password = try await fixture.signIn(try await fixture.account("bob@example.com"))
        #expect(
            try await fixture.store.family(id: password.tokens.familyID)?.signIn == SignInFacts(authenticatedAt: now))
    }

    @Test("A provider's end of a session ends the families of that session, with home and guests, and no others")
    func endOfSession() async throws {
        let first = try await fixture.signIn(try await prove())
        let guest = try await fixture.guest(of: first)
        let second = try await fixture.signIn(try await prove(Self.provider) { $0["sid"] = "idp-session-2" })
        let silent = try await fixture.signIn(try await prove(Self.provider) { $0["sid"] = nil })
        fixture.audited.removeAll()
        let ended = try await fixture.signIn.endSessions(
            ofProvider: "idp", issuer: "https://idp.example", target: .session("idp-session-1", subject: nil))
        #expect(ended == 1 && Set(fixture.announced.all) == [first.sessionID, guest.session.id])
        #expect(fixture.audited.all.contains("family.ended provider_logout"))
        #expect(try await !fixture.opens(first.session))
        #expect(try await !fixture.opens(guest))
        #expect(!fixture.isGood(first.tokens))
        #expect(try await fixture.opens(second.session))
        #expect(try await fixture.opens(silent.session))
        // Named with the person, a session that was never told is among them.
        #expect(
            try await fixture.signIn.endSessions(
                ofProvider: "idp", issuer: "https://idp.example",
                target: .session("idp-session-9", subject: "person-1")) == 1)
        #expect(try await !fixture.opens(silent.session))
        #expect(try await fixture.opens(second.session))
    }

    @Test("A provider's end of a person ends what that provider began for them, and nothing that began elsewhere")
    func endOfPerson() async throws {
        let proved = try await prove()
        let here = try await fixture.signIn(proved)
        let elsewhere = try await fixture.signIn(ProvedAccount(proved.account, by: .password))
        let stranger = try await fixture.signIn(try await prove(Self.provider) { $0["sub"] = "person-2" })
        let ended = try await fixture.signIn.endSessions(
            ofProvider: "idp", issuer: "https://idp.example", target: .subject("person-1"))
        #expect(ended == 1)
        #expect(try await !fixture.opens(here.session))
        #expect(try await fixture.opens(elsewhere.session))
        #expect(try await fixture.opens(stranger.session))
        for (name, issuer) in [("other", "https://idp.example"), ("idp", "https://other.example")] {
            #expect(
                try await fixture.signIn.endSessions(
                    ofProvider: name, issuer: issuer, target: .subject("person-2")) == 0)
        }
    }
}
