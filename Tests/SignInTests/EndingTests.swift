import BasicsForTests
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Synchronization
import Testing
import TrafficCop

@Suite("Refreshing, logging out, ending and revoking: homes take their family along, guests end alone")
struct EndingTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    private func refreshToken(_ tokens: IssuedTokens) throws -> String { try #require(tokens.refreshToken) }

    // MARK: Refreshing

    @Test("A refresh gives a new pair in one transaction, and counts as use of the home session")
    func refresh() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        fixture.clock.advance(by: 60_000)
        let transactions = fixture.engine.transactions.load(ordering: .relaxed)
        let refreshed = try await fixture.signIn.refresh(refreshToken(signedIn.tokens))
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 1)
        #expect(refreshed.home?.id == signedIn.sessionID)
        #expect(refreshed.tokens.familyID == signedIn.tokens.familyID && fixture.isGood(refreshed.tokens))
        let family = try #require(try await fixture.store.family(id: signedIn.tokens.familyID))
        #expect(refreshed.familyEndsAt == family.absoluteExpiresAt && family.counter == 1)
        #expect(refreshed.home?.lastSeenAt == fixture.clock.read())
        #expect(refreshed.home?.expiresAt == fixture.clock.read() + fixture.runtime.policy.idle)
        // Within its grace the predecessor gets the same successor.
        let again = try await fixture.signIn.refresh(refreshToken(signedIn.tokens))
        #expect(again.tokens.refreshToken == refreshed.tokens.refreshToken && again.home?.id == signedIn.sessionID)
    }

    @Test("A refresh that is cut off before its commit leaves the token as good as it was")
    func refreshCutOff() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let token = try refreshToken(signedIn.tokens)
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await fixture.signIn.refresh(token) }
        #expect(try await fixture.store.family(id: signedIn.tokens.familyID)?.counter == 0)
        #expect(try await fixture.signIn.refresh(token).home?.id == signedIn.sessionID)
    }

    @Test("A family whose home has run out is ended instead of refreshed, with its guests")
    func deadHome() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        fixture.clock.advance(by: 11 * 3_600_000)
        // Its token has run out, but its family lives: the guest is made when the home has an hour left.
        let guest = try await fixture.guest(of: signedIn)
        fixture.clock.advance(by: 2 * 3_600_000)
        let token = try refreshToken(signedIn.tokens)
        await #expect(throws: SignInFault(.invalidGrant, reason: "")) { try await fixture.signIn.refresh(token) }
        let family = try #require(try await fixture.store.family(id: signedIn.tokens.familyID))
        #expect(!family.isLive && family.counter == 0)
        #expect(try await fixture.state(signedIn.sessionID) == .expired)
        #expect(try await fixture.state(guest.session.id) == .ended)
        #expect(fixture.audited.all.contains("session.expired"))
        #expect(fixture.audited.all.filter { $0 == "session.ended family_ended" }.count == 1)
    }

    @Test("A home that a request finds to have run out takes its family along, as if it had been swept")
    func foundDead() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        fixture.clock.advance(by: 11 * 3_600_000)
        let guest = try await fixture.guest(of: signedIn)
        fixture.clock.advance(by: 2 * 3_600_000)
        #expect(try await !fixture.opens(signedIn.session))
        #expect(try await fixture.state(signedIn.sessionID) == .expired)
        #expect(try await fixture.state(guest.session.id) == .ended)
        #expect(try await fixture.store.family(id: signedIn.tokens.familyID)?.isLive == false)
        #expect(Set(fixture.announced.all) == [signedIn.sessionID, guest.session.id])
        #expect(fixture.audited.all.suffix(2) == ["session.expired", "session.ended family_ended"])
        #expect(try await !fixture.opens(guest))
    }

    @Test("A used token that comes back ends the family, its home and its guests")
    func reuse() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let guest = try await fixture.guest(of: signedIn)
        let token = try refreshToken(signedIn.tokens)
        let next = try await fixture.signIn.refresh(token)
        _ = try await fixture.signIn.refresh(refreshToken(next.tokens))
        await #expect(throws: SignInFault(.invalidGrant, reason: "")) { try await fixture.signIn.refresh(token) }
        #expect(try await fixture.state(signedIn.sessionID) == .ended)
        #expect(try await fixture.state(guest.session.id) == .ended)
        #expect(!fixture.isGood(next.tokens))
        #expect(fixture.audited.all.filter { $0 == "session.ended refresh_reused" }.count == 2)
    }

    @Test("Of many refreshes of one token at once all get the same successor")
    func refreshRace() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let token = try refreshToken(signedIn.tokens)
        let successors = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<12 {
                group.addTask { [fixture] in try await fixture.signIn.refresh(token).tokens.refreshToken ?? "" }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(successors.count == 1)
    }

    // MARK: Logging out

    @Test("Any one proof logs out, in one transaction", arguments: ["token", "session", "refresh"])
    func logOut(by proof: String) async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let guest = try await fixture.guest(of: signedIn)
        var proofs = LogoutProofs()
        switch proof {
        case "token": proofs.principal = signedIn.tokens.principal
        case "session": proofs.session = (signedIn.session.session, signedIn.proof)
        default: proofs.refreshToken = signedIn.tokens.refreshToken
        }
        let transactions = fixture.engine.transactions.load(ordering: .relaxed)
        #expect(try await fixture.signIn.logOut(proofs).isProved)
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 1)
        #expect(try await fixture.state(signedIn.sessionID) == .ended)
        #expect(try await fixture.state(guest.session.id) == .ended)
        #expect(!fixture.isGood(signedIn.tokens))
        #expect(fixture.announced.all.contains(signedIn.sessionID))
        // Twice is as good as once.
        #expect(try await fixture.signIn.logOut(proofs).isProved)
    }

    @Test("A logout that is cut off before its commit has ended nothing")
    func logOutCutOff() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let proofs = LogoutProofs(session: (signedIn.session.session, signedIn.proof))
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await fixture.signIn.logOut(proofs) }
        // Nor have its sockets been told.
        #expect(fixture.announced.all.isEmpty)
        #expect(try await fixture.opens(signedIn.session))
        #expect(fixture.isGood(signedIn.tokens))
    }

    @Test("A made-up refresh token proves nothing, and an outdated secret nothing")
    func noProof() async throws {
        let unknown = "ref_" + String(repeating: "A", count: 43)
        #expect(try await !fixture.signIn.logOut(LogoutProofs(refreshToken: unknown)).isProved)
        #expect(try await !fixture.signIn.logOut(LogoutProofs()).isProved)
        let session = try await fixture.anonymous()
        let signedIn = try await fixture.signIn(fixture.account(), to: fixture.target(session))
        let old = LogoutProofs(session: (session.session, .secret(hash: session.secret.hash)))
        #expect(try await !fixture.signIn.logOut(old).isProved)
        #expect(try await fixture.opens(signedIn.session))
    }

    @Test("A token that names no family ends alone")
    func tokenWithoutFamily() async throws {
        let (client, _) = try await fixture.securityGuard.clients.add(name: "c", tenantID: "acme", scope: ["read"])
        let token = try await fixture.securityGuard.clientCredentials(client)
        try await fixture.signIn.revoke(presented: token.accessToken, by: client)
        guard case .failure = fixture.securityGuard.judge(token: token.accessToken.utf8) else {
            Issue.record("a revoked token is accepted")
            return
        }
    }

    // MARK: Ending one session

    @Test("A guest ends alone, a home takes its family along", arguments: ["guest", "home"])
    func end(which: String) async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let guest = try await fixture.guest(of: signedIn)
        let ended = which == "home" ? signedIn.session : guest
        try await fixture.signIn.end(ended.session, proof: .secret(hash: ended.secret.hash))
        #expect(try await fixture.state(guest.session.id) == .ended)
        #expect(try await fixture.opens(signedIn.session) == (which == "guest"))
        #expect(fixture.isGood(signedIn.tokens) == (which == "guest"))
        let ends = which == "home" ? [signedIn.sessionID, guest.session.id] : [guest.session.id]
        #expect(Set(fixture.announced.all) == Set(ends))
    }

    @Test("An end that the store has not recorded is none, and is told to nobody", arguments: ["owner", "operator"])
    func endCutOff(by who: String) async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        func end() async throws {
            switch who {
            case "owner": try await fixture.signIn.end(signedIn.session.session, proof: signedIn.proof)
            default: _ = try await fixture.signIn.endByOperator(sessionID: signedIn.sessionID)
            }
        }
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await end() }
        #expect(fixture.announced.all.isEmpty)
        #expect(try await fixture.opens(signedIn.session))
        #expect(fixture.isGood(signedIn.tokens))
        try await end()
        #expect(fixture.announced.all == [signedIn.sessionID])
    }

    @Test("A proof that no longer opens the session ends nothing")
    func endOutdated() async throws {
        let account = try await fixture.account()
        let first = try await fixture.signIn(account)
        let second = try await fixture.signIn(account, to: fixture.target(first.session))
        await #expect(throws: SessionFault(.mismatch)) {
            try await fixture.signIn.end(first.session.session, proof: first.proof)
        }
        #expect(try await fixture.opens(second.session))
        #expect(fixture.isGood(second.tokens))
    }

    @Test("A cookie's refresh token and the last secret of an ended session count where nothing else proves anything")
    func lesserProofs() async throws {
        let account = try await fixture.account()
        let (one, two) = (try await fixture.signIn(account), try await fixture.signIn(account))
        let cookie = try refreshToken(two.tokens)
        let bySession = try await fixture.signIn.logOut(
            LogoutProofs(session: (snapshot: one.session.session, proof: one.proof), refreshCookie: cookie))
        #expect(bySession.byTokenOrSession && !bySession.byRefreshCookie)
        let bySecret = try await fixture.signIn.logOut(
            LogoutProofs(deadSecretHash: one.session.secret.hash, refreshCookie: cookie))
        #expect(bySecret.byDeadSecret && !bySecret.byRefreshCookie)
        let byNothing = try await fixture.signIn.logOut(
            LogoutProofs(refreshToken: "ref_unknown", refreshCookie: cookie))
        #expect(!byNothing.isProved)
        #expect(try await fixture.opens(two.session))
        let byCookie = try await fixture.signIn.logOut(LogoutProofs(deadSecretHash: [1], refreshCookie: cookie))
        #expect(byCookie.byRefreshCookie && !byCookie.byDeadSecret)
        #expect(try await !fixture.opens(two.session))
    }

    // MARK: Passwords and clients

    @Test("A new password ends every session but the one that asked and the home of its family")
    func changePassword() async throws {
        let account = try await fixture.account()
        let mine = try await fixture.signIn(account)
        let asking = try await fixture.guest(of: mine)
        let other = try await fixture.signIn(account)
        try await fixture.signIn.changePassword(
            of: mine.tokens.principal, current: Fixture.password, new: "another one", session: asking.session,
            clientAddress: Fixture.address)
        #expect(try await fixture.opens(mine.session))
        #expect(try await fixture.opens(asking))
        #expect(try await !fixture.opens(other.session))
        #expect(fixture.audited.all.contains("session.ended password_changed"))
    }

    @Test("A new password that is cut off before its commit, or is asked for with an ended family, changes nothing")
    func refusedPassword() async throws {
        let account = try await fixture.account()
        let mine = try await fixture.signIn(account)
        let other = try await fixture.signIn(account)
        func change() async throws {
            try await fixture.signIn.changePassword(
                of: mine.tokens.principal, current: Fixture.password, new: "another one", session: nil,
                clientAddress: Fixture.address)
        }
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await change() }
        #expect(try await fixture.opens(other.session))
        _ = try await fixture.signIn.logOut(LogoutProofs(refreshToken: mine.tokens.refreshToken))
        await #expect(throws: AuthError(.invalidCredentials)) { try await change() }
        #expect(fixture.audited.all.last == "account.password_refused changed_meanwhile")
        #expect(!fixture.audited.all.contains("account.password_changed"))
        #expect(try await fixture.opens(other.session))
    }

    @Test("A client revokes tokens of its tenant's logins, and no other's")
    func revoke() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let (own, _) = try await fixture.securityGuard.clients.add(name: "own", tenantID: "acme", scope: ["read"])
        let (foreign, _) = try await fixture.securityGuard.clients.add(name: "foreign", tenantID: "other", scope: [])
        let token = try refreshToken(signedIn.tokens)
        try await fixture.signIn.revoke(presented: token, by: foreign)
        #expect(try await fixture.opens(signedIn.session))
        try await fixture.signIn.revoke(presented: token, by: own)
        #expect(try await !fixture.opens(signedIn.session))
        #expect(!fixture.isGood(signedIn.tokens))
    }
}
