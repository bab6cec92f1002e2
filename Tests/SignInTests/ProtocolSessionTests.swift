import BasicsForTests
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Synchronization
import Testing

@Suite("A protocol session that the gateway serves itself and its session begin and end together")
struct ProtocolSessionTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    /// The protocol session of a token's user under a hash.
    private func record(
        _ principal: Principal, _ hash: [UInt8], upstream: String = "runtime"
    ) -> ProtocolSessionRecord {
        ProtocolSessionRecord(
            hash: hash, tenantID: principal.tenantID, userID: principal.subject,
            clientID: principal.qualifiedClientID, familyID: principal.familyID, upstream: upstream,
            lastUsedAt: fixture.clock.read())
    }

    private func open(
        _ principal: Principal, _ hash: [UInt8]
    ) async throws -> (sessionID: String, protocolSession: ProtocolSessionRecord) {
        try await fixture.signIn.openProtocolSession(with: principal, clientAddress: Fixture.address) { _ in
            record(principal, hash)
        }
    }

    private func bound(_ hash: [UInt8]) async throws -> ProtocolSessionRecord? {
        try await fixture.store.protocolSession(hash: hash, since: 0)
    }

    private func live(_ userID: String) async throws -> Set<String> {
        let sessions = try await fixture.store.sessions(userID: userID, liveAt: fixture.clock.read(), limit: 100)
        return Set(sessions.map(\.id))
    }

    @Test("One that is cut off before its commit leaves neither, and one that is not leaves both")
    func begins() async throws {
        let principal = try await fixture.signIn(fixture.account()).tokens.principal
        let before = try await live(principal.subject)
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { _ = try await open(principal, [1]) }
        #expect(try await live(principal.subject) == before)
        #expect(try await bound([1]) == nil)
        let opened = try await open(principal, [1])
        #expect(try await live(principal.subject) == before.union([opened.sessionID]))
        #expect(try await bound([1]) == opened.protocolSession)
    }

    @Test("A hash that is another caller's is refused, and leaves no session")
    func foreign() async throws {
        let ada = try await fixture.signIn(fixture.account()).tokens.principal
        let bob = try await fixture.signIn(fixture.account("bob@example.com")).tokens.principal
        _ = try await open(ada, [1])
        let before = try await live(bob.subject)
        await #expect(throws: SignInFault(.tokenRevoked, reason: "")) { _ = try await open(bob, [1]) }
        #expect(try await live(bob.subject) == before)
    }

    @Test("Both end in one transaction, and again without an effect; the home of the token goes on")
    func ends() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let opened = try await open(signedIn.tokens.principal, [1])
        func end() async throws {
            try await fixture.signIn.end(protocolSession: opened.protocolSession, of: opened.sessionID)
        }
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await end() }
        #expect(try await fixture.state(opened.sessionID) == .authenticated)
        #expect(try await bound([1]) != nil)
        fixture.audited.removeAll()
        try await end()
        #expect(try await fixture.state(opened.sessionID) == .ended)
        #expect(try await bound([1]) == nil)
        #expect(fixture.announced.all == [opened.sessionID])
        try await end()
        #expect(fixture.audited.all == ["session.ended"])
        #expect(try await fixture.state(signedIn.sessionID) == .authenticated)
        #expect(fixture.isGood(signedIn.tokens))
    }

    @Test("One whose session has ended before still ends")
    func endsAfterSession() async throws {
        let principal = try await fixture.signIn(fixture.account()).tokens.principal
        let opened = try await open(principal, [1])
        #expect(try await fixture.signIn.endByOperator(sessionID: opened.sessionID) == true)
        try await fixture.signIn.end(protocolSession: opened.protocolSession, of: opened.sessionID)
        #expect(try await bound([1]) == nil)
    }

    @Test("Of requests at once that share a session one opens it, and it is replaced once when it has ended")
    func shared() async throws {
        let principal = try await fixture.signIn(fixture.account()).tokens.principal
        let before = try await live(principal.subject)
        func open(replacing ended: ProtocolSessionRecord?) async throws -> Set<String> {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await fixture.signIn.openSharedSession(
                            with: principal, clientAddress: Fixture.address, record: record(principal, [1]),
                            replacing: ended
                        ).upstream
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
        }
        let first = try await open(replacing: nil)
        #expect(first.count == 1)
        #expect(try await live(principal.subject) == before.union(first))
        let ended = try #require(try await bound([1]))
        #expect(first == [ended.upstream])
        #expect(try await fixture.signIn.endByOperator(sessionID: ended.upstream) == true)
        let second = try await open(replacing: ended)
        #expect(second.count == 1 && second != first)
        #expect(try await live(principal.subject) == before.union(second))
        #expect(try await bound([1]).map { [$0.upstream] } == Array(second))
    }

    @Test("The shared session ends with the family of its token, and none begins with that token")
    func sharedFamily() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let principal = signedIn.tokens.principal
        func open(replacing ended: ProtocolSessionRecord?) async throws -> ProtocolSessionRecord {
            try await fixture.signIn.openSharedSession(
                with: principal, clientAddress: Fixture.address, record: record(principal, [1]), replacing: ended)
        }
        let shared = try await open(replacing: nil)
        _ = try await fixture.signIn.logOut(LogoutProofs(refreshToken: signedIn.tokens.refreshToken))
        #expect(try await bound([1]) == nil)
        #expect(try await fixture.state(shared.upstream) == .ended)
        await #expect(throws: StateSurfaceError.ownerGone) { _ = try await open(replacing: shared) }
        #expect(try await live(principal.subject).isEmpty)
    }
}
