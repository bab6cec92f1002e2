import BasicsForTests
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Synchronization
import Testing
import TrafficCop

@Suite("Opening a session with a token: together with the end of those that are too many, or not at all")
struct TokenSessionTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture(perUser: 2) }

    /// All sessions of the user, also those that are over.
    private func sessions(of signedIn: SignedIn) async throws -> [SessionRecord] {
        try await fixture.store.sessions(userID: signedIn.userID, liveAt: nil, limit: 10)
    }

    private func upgrade(
        _ issued: IssuedSession, by signedIn: SignedIn, secretHash: [UInt8]? = nil
    ) async throws -> IssuedSession {
        let intent = SessionIntent(
            kind: .upgrade, clientAddress: Fixture.address, sessionID: issued.session.id,
            tenantID: signedIn.tenantID, userID: signedIn.userID)
        return try await fixture.signIn.open(
            intent, secretHash: secretHash ?? issued.secret.hash, with: signedIn.tokens.principal)
    }

    @Test("One beyond the limit ends the longest unused guest in the same transaction")
    func surplus() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        fixture.clock.advance(by: 1)
        let first = try await fixture.guest(of: signedIn)
        fixture.clock.advance(by: 1)
        let transactions = fixture.engine.transactions.load(ordering: .relaxed)
        let second = try await fixture.guest(of: signedIn)
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 1)
        #expect(try await fixture.state(first.session.id) == .ended)
        #expect(fixture.audited.all.contains("session.ended too_many_sessions"))
        #expect(try await fixture.opens(second))
        #expect(try await fixture.opens(signedIn.session))
    }

    @Test("The home of the token that opens a session is spared: the session would end with it")
    func ownHome() async throws {
        let account = try await fixture.account()
        let signedIn = try await fixture.signIn(account)
        fixture.clock.advance(by: 1)
        // Another home, used later.
        _ = try await fixture.signIn(account)
        fixture.clock.advance(by: 1)
        let guest = try await fixture.guest(of: signedIn)
        #expect(try await fixture.opens(guest))
    }

    @Test("Cut off before its commit it leaves no session, and ends none")
    func cutOff() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        fixture.clock.advance(by: 1)
        let first = try await fixture.guest(of: signedIn)
        fixture.audited.removeAll()
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await fixture.guest(of: signedIn) }
        #expect(try await sessions(of: signedIn).count == 2)
        #expect(try await fixture.opens(first))
        #expect(fixture.audited.all.isEmpty)
        // The control: the same once more, left alone.
        _ = try await fixture.guest(of: signedIn)
        #expect(try await sessions(of: signedIn).count == 3)
        #expect(try await !fixture.opens(first))
    }

    @Test("A token that is revoked meanwhile neither opens a session nor ends one")
    func revoked() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let first = try await fixture.guest(of: signedIn)
        let anonymous = try await fixture.anonymous()
        let principal = signedIn.tokens.principal
        let revocation = fixture.securityGuard.revocation(of: principal)
        try await fixture.store.transaction { try $0.revoke(revocation) }
        fixture.securityGuard.report(revocation, of: principal)
        await #expect(throws: SignInFault(.tokenRevoked, reason: "")) { try await fixture.guest(of: signedIn) }
        await #expect(throws: SignInFault(.tokenRevoked, reason: "")) {
            try await upgrade(anonymous, by: signedIn)
        }
        // There is not even one that has ended.
        #expect(try await sessions(of: signedIn).count == 2)
        #expect(try await fixture.opens(first))
        #expect(try await fixture.opens(anonymous))
    }

    @Test("A family that has ended opens no session")
    func familyEnded() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        _ = try await fixture.signIn.logOut(LogoutProofs(refreshToken: signedIn.tokens.refreshToken))
        await #expect(throws: StateSurfaceError.ownerGone) { try await fixture.guest(of: signedIn) }
        #expect(try await sessions(of: signedIn).count == 1)
    }

    @Test("An anonymous session gets its owner, a new secret and the place of a surplus one in one transaction")
    func upgrades() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        fixture.clock.advance(by: 1)
        let guest = try await fixture.guest(of: signedIn)
        let anonymous = try await fixture.anonymous()
        await #expect(throws: SessionFault(.mismatch)) {
            try await upgrade(anonymous, by: signedIn, secretHash: Array(repeating: 0, count: 32))
        }
        let transactions = fixture.engine.transactions.load(ordering: .relaxed)
        let issued = try await upgrade(anonymous, by: signedIn)
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 1)
        #expect(issued.session.id == anonymous.session.id && issued.session.familyID == signedIn.tokens.familyID)
        #expect(try await fixture.state(issued.session.id) == .authenticated)
        #expect(try await fixture.opens(issued))
        #expect(try await !fixture.opens(anonymous))
        #expect(try await fixture.state(guest.session.id) == .ended)
    }
}
