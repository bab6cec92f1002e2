import BasicsForTests
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Testing
import TrafficCop

@Suite("What was judged before a write is judged once more, or counted, where it may have changed")
struct JudgedTwiceTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    @Test("A session that was resumed since it was looked up is a conflict, also within the grace of its former secret")
    func staleTarget() async throws {
        let account = try await fixture.account()
        let first = try await fixture.signIn(account)
        let target = try #require(try await fixture.target(first.session))
        let second = try await fixture.signIn(account, to: target)
        await #expect(throws: SessionFault(.conflict)) { try await fixture.signIn(account, to: target) }
        #expect(try await fixture.opens(second.session))
        #expect(fixture.isGood(second.tokens))
    }

    @Test("A token that is revoked while it opens a session leaves none open")
    func revokedMeanwhile() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        _ = try await fixture.guest(of: signedIn)
        let principal = signedIn.tokens.principal
        let revocation = fixture.securityGuard.revocation(of: principal)
        try await fixture.store.transaction { try $0.revoke(revocation) }
        fixture.securityGuard.report(revocation, of: principal)
        func live() async throws -> Int {
            try await fixture.store.liveSessions(
                after: "", userID: signedIn.userID, now: fixture.clock.read(), limit: 10
            ).count
        }
        #expect(try await live() == 2)
        await #expect(throws: SignInFault(.tokenRevoked, reason: "")) { try await fixture.guest(of: signedIn) }
        #expect(try await live() == 2)
        // Not even one that has ended.
        #expect(try await fixture.store.sessions(userID: signedIn.userID, liveAt: nil, limit: 10).count == 2)
    }

    @Test("The refresh token of a client for a resource does not sign the person out")
    func clientsToken() async throws {
        let proved = try await fixture.account()
        let signedIn = try await fixture.signIn(proved)
        let terms = GrantTerms(
            clientID: "cli_agent", resource: "https://gate.example/mcp", scope: ["read"],
            binding: signedIn.sessionID)
        let family = fixture.securityGuard.grant(terms, of: proved.account, codeLifetime: 60_000)
        let judged = JudgedOwner(credentialEpoch: proved.account.credentialEpoch)
        try await fixture.store.insert(family: family, judged: judged)
        let (next, tokens) = try await fixture.securityGuard.redeemed(family, of: proved.account)
        #expect(try await fixture.store.rotate(family: next))
        let token = try #require(tokens.refreshToken)
        #expect(try await !fixture.signIn.logOut(LogoutProofs(refreshToken: token)).isProved)
        #expect(try await fixture.opens(signedIn.session))
        #expect(try await fixture.store.family(id: family.id)?.isLive == true)
        // Nor does it refresh what the person is signed in with.
        await #expect(throws: SignInFault(.invalidGrant, reason: "")) { try await fixture.signIn.refresh(token) }
    }

    @Test("Failures that other nodes have counted are refused before the password is checked, and only failures count")
    func failuresOfOthers() async throws {
        _ = try await fixture.account()
        let counted = Collected<String>()
        let others = Collected<Int64>()
        let signIn = SignInService(
            securityGuard: fixture.securityGuard, runtime: fixture.runtime, trafficCop: fixture.trafficCop,
            store: fixture.store,
            countFailures: { key, adding in
                if adding > 0 { counted.append(key) }
                return others.all.last ?? 0
            })
        func prove(_ password: String) async throws -> ProvedAccount {
            try await signIn.provePassword(
                email: "ada@example.com", password: password, tenantID: nil, clientAddress: Fixture.address)
        }
        _ = try await prove(Fixture.password)
        #expect(counted.all.isEmpty)
        await #expect(throws: AuthError(.invalidCredentials)) { try await prove("wrong") }
        #expect(Set(counted.all).count == 2)
        others.append(1_000)
        fixture.audited.removeAll()
        for password in [Fixture.password, "wrong"] {
            await #expect(throws: Denial.self) { try await prove(password) }
        }
        #expect(counted.all.count == 2 && fixture.audited.all.isEmpty)
    }
}
