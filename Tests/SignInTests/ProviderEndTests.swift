import BasicsForTests
import Encodings
import IdentityProviders
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Synchronization
import Testing

@Suite("A sign-in and the end of its provider's session: whichever comes first, nothing outlives the end")
struct ProviderEndTests {
    private static let provider: ProviderConfiguration = {
        var provider = ProviderConfiguration(
            name: "idp", issuer: "https://idp.example", clientID: "client", clientAuthentication: .none)
        provider.tenancy = .fixed("acme")
        return provider
    }()

    /// What a logout token can end of a sign-in.
    enum Way: CaseIterable {
        /// The provider's session, which the ID token names.
        case session
        /// What the person began where the ID token names no session.
        case sessionless
        /// Everything of the person.
        case person

        /// The target of a logout token for the sign-in of this number.
        func target(_ number: Int) -> LogoutToken.Target {
            switch self {
            case .session: .session("s-\(number)", subject: nil)
            case .sessionless: .session("elsewhere-\(number)", subject: "person-\(number)")
            case .person: .subject("person-\(number)")
            }
        }
    }

    let fixture: Fixture
    let memory: ProviderMemory

    init() async throws {
        fixture = try await Fixture()
        memory = ProviderMemory(store: fixture.store, clock: fixture.clock.read)
    }

    /// Proves the person of this number with an ID token of the present second.
    ///
    /// - Parameter begunAt: when they were sent to the provider; nil for a token that was handed in.
    private func prove(_ way: Way, _ number: Int = 1, begunAt: Int64? = nil) async throws -> ProvedAccount {
        var claims: JSONObject = [
            "sub": .string("person-\(number)"), "iat": .integer(fixture.clock.read() / 1000),
        ]
        if way != .sessionless { claims["sid"] = .string("s-\(number)") }
        let identity = try ExternalIdentity.read(claims, of: Self.provider).get()
        return try await fixture.signIn.prove(
            identity, of: Self.provider, begunAt: begunAt, provenAt: identity.issuedAt)
    }

    private func note(_ way: Way, _ number: Int = 1) async throws {
        try await memory.noteEnd(of: way.target(number), issuedAt: fixture.clock.read(), ofProvider: "idp")
    }

    private func end(_ way: Way, _ number: Int = 1) async throws -> Int {
        try await fixture.signIn.endSessions(
            ofProvider: "idp", issuer: "https://idp.example", target: way.target(number))
    }

    /// All sessions of an account, also those that are over.
    private func sessions(of proved: ProvedAccount) async throws -> [SessionRecord] {
        try await fixture.store.sessions(userID: proved.account.userID, liveAt: nil, limit: 10)
    }

    @Test("An end that is known before the person is proved makes no account", arguments: Way.allCases)
    func beforeProof(way: Way) async throws {
        try await note(way)
        fixture.audited.removeAll()
        await #expect(throws: AuthError(.invalidCredentials)) { try await prove(way) }
        #expect(try await fixture.store.userIDs(issuer: "https://idp.example", subject: "person-1").isEmpty)
        #expect(fixture.audited.all == ["login.refused provider_session_ended"])
    }

    @Test("An end between the proof and the sign-in leaves no family and no session of it", arguments: Way.allCases)
    func beforeSignIn(way: Way) async throws {
        let proved = try await prove(way)
        let session = try await fixture.anonymous()
        let place = try #require(try await fixture.target(session))
        try await note(way)
        #expect(try await end(way) == 0)
        let told = Collected<Change>()
        let subscription = fixture.store.subscribe { told.append($0) }
        defer { subscription.cancel() }
        fixture.audited.removeAll()
        for target in [place, nil] {
            await #expect(throws: AuthError(.invalidCredentials)) { try await fixture.signIn(proved, to: target) }
        }
        #expect(fixture.audited.all == Array(repeating: "login.refused provider_session_ended", count: 2))
        #expect(told.all.isEmpty)
        #expect(try await fixture.store.liveFamilies(userID: proved.account.userID).isEmpty)
        #expect(try await sessions(of: proved).isEmpty)
        // The session is as it was, and its secret still opens it.
        #expect(try await fixture.state(session.session.id) == .anonymous)
        #expect(try await fixture.opens(session))
        // The control: what the provider has not ended signs in, in one transaction.
        let other = try await prove(way, 2)
        let transactions = fixture.engine.transactions.load(ordering: .relaxed)
        #expect(try await fixture.signIn(other, to: place).plan.word == "upgraded")
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 1)
    }

    @Test("An end after the sign-in finds its family", arguments: Way.allCases)
    func afterSignIn(way: Way) async throws {
        let signedIn = try await fixture.signIn(try await prove(way))
        try await note(way)
        #expect(try await end(way) == 1)
        #expect(try await fixture.state(signedIn.sessionID) == .ended)
        #expect(try await fixture.store.family(id: signedIn.tokens.familyID)?.isLive == false)
        #expect(!fixture.isGood(signedIn.tokens))
    }

    @Test("After an end a new sign-in may begin at once, and the next end finds it", arguments: Way.allCases)
    func newSignIn(way: Way) async throws {
        let before = fixture.clock.read()
        try await note(way)
        #expect(try await end(way) == 0)
        fixture.clock.advance(by: 1)
        let begunAt = fixture.clock.read()
        let proved = try await prove(way, begunAt: begunAt)
        let signedIn = try await fixture.signIn(proved)
        // One that had begun before is refused still, though its ID token is of the same second.
        await #expect(throws: AuthError(.invalidCredentials)) { try await prove(way, begunAt: before) }
        #expect(try await fixture.state(signedIn.sessionID) == .authenticated && fixture.isGood(signedIn.tokens))
        fixture.clock.advance(by: 1)
        try await note(way)
        #expect(try await end(way) == 1)
        #expect(try await fixture.state(signedIn.sessionID) == .ended && !fixture.isGood(signedIn.tokens))
        await #expect(throws: AuthError(.invalidCredentials)) { try await fixture.signIn(proved) }
    }

    @Test("A sign-in that is cut off before its commit leaves nothing, and may be repeated unless the provider ends it")
    func cutOff() async throws {
        let proved = try await prove(.session)
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await fixture.signIn(proved) }
        #expect(try await fixture.store.liveFamilies(userID: proved.account.userID).isEmpty)
        #expect(try await sessions(of: proved).isEmpty)
        _ = try await fixture.signIn(proved)
        try await note(.person)
        await #expect(throws: AuthError(.invalidCredentials)) { try await fixture.signIn(proved) }
    }

    @Test("Of an end and a sign-in at once, the end has the last word", arguments: Way.allCases)
    func together(way: Way) async throws {
        for round in 0..<20 {
            let proved = try await prove(way, round)
            let signedIn = try await withThrowingTaskGroup(of: SignedIn?.self) { group in
                group.addTask {
                    do {
                        return try await fixture.signIn(proved)
                    } catch let error as AuthError where error.code == .invalidCredentials {
                        return nil
                    }
                }
                group.addTask {
                    try await note(way, round)
                    _ = try await end(way, round)
                    return nil
                }
                return try await group.reduce(into: SignedIn?.none) { if let one = $1 { $0 = one } }
            }
            #expect(try await fixture.store.liveFamilies(userID: proved.account.userID).isEmpty)
            if let signedIn { #expect(try await fixture.state(signedIn.sessionID) == .ended) }
        }
    }
}
