import BasicsForTests
import Encodings
import IdentityProviders
import SignIn
import StateSurface
import Testing

@Suite("What a provider has ended is remembered")
struct ProviderMemoryTests {
    private static let day: Int64 = 86_400_000

    let fixture: Fixture
    let memory: ProviderMemory
    /// The second in which the provider ends something.
    let end: Int64

    init() async throws {
        fixture = try await Fixture()
        memory = ProviderMemory(store: fixture.store, clock: fixture.clock.read)
        end = fixture.clock.read()
    }

    /// Where an ID token begins, issued some milliseconds after the end.
    ///
    /// - Parameter begun: how long after the end the browser was sent to the provider; nil for a token that was handed in.
    private func origin(
        issued: Int64, authenticated: Int64? = nil, session: String? = nil, person: String = "person-1",
        provider: String = "idp", begun: Int64? = nil
    ) throws -> ProviderOrigin {
        var claims: JSONObject = ["sub": .string(person), "iat": .integer((end + issued) / 1000)]
        if let authenticated { claims["auth_time"] = .integer((end + authenticated) / 1000) }
        if let session { claims["sid"] = .string(session) }
        let configuration = ProviderConfiguration(
            name: provider, issuer: "https://idp.example", clientID: "client", clientAuthentication: .none)
        return ProviderOrigin(
            try ExternalIdentity.read(claims, of: configuration).get(), of: provider, begunAt: begun.map { end + $0 })
    }

    @Test("An ID token from before the end is refused as long as one of its age is accepted at all")
    func oldTokens() async throws {
        try await memory.noteEnd(of: .subject("person-1"), issuedAt: end, ofProvider: "idp")
        try await memory.noteEnd(of: .session("s-1", subject: nil), issuedAt: end, ofProvider: "idp")
        let byPerson = try origin(issued: 0)
        let bySession = try origin(issued: 0, session: "s-1", person: "person-2")
        for _ in 0..<31 {
            #expect(try await memory.hasEnded(byPerson))
            #expect(try await memory.hasEnded(bySession))
            guard fixture.clock.read() < end + ProviderToken.maximumAge else { break }
            fixture.clock.advance(by: Self.day)
        }
        // The provider's clock may be a minute ahead, and a node's behind that of the node that was told.
        fixture.clock.advance(by: 120_000)
        #expect(try await memory.hasEnded(byPerson))
        #expect(try await memory.hasEnded(bySession))
    }

    @Test("For a day a newer ID token that names the session or an authentication from before is refused as well")
    func newerTokens() async throws {
        try await memory.noteEnd(of: .subject("person-1"), issuedAt: end, ofProvider: "idp")
        try await memory.noteEnd(of: .session("s-1", subject: nil), issuedAt: end, ofProvider: "idp")
        let stale = [
            try origin(issued: 5_000, authenticated: -60_000),
            try origin(issued: 5_000, session: "s-1", person: "person-2"),
        ]
        fixture.clock.advance(by: Self.day - 1)
        for origin in stale { #expect(try await memory.hasEnded(origin)) }
        fixture.clock.advance(by: 1)
        for origin in stale { #expect(try await !memory.hasEnded(origin)) }
    }

    @Test("What began after the end, another person, session or provider is not meant")
    func others() async throws {
        try await memory.noteEnd(of: .subject("person-1"), issuedAt: end, ofProvider: "idp")
        try await memory.noteEnd(of: .session("s-1", subject: "person-3"), issuedAt: end, ofProvider: "idp")
        for kept in [
            try origin(issued: 1_000), try origin(issued: 1_000, authenticated: 1_000),
            try origin(issued: 0, person: "person-2"), try origin(issued: 0, provider: "other"),
            try origin(issued: 0, session: "s-2", person: "person-3"),
            try origin(issued: 0, session: "s-1", person: "person-3", provider: "other"),
        ] {
            #expect(try await !memory.hasEnded(kept))
        }
        // The provider named a person and one session: a token that names none may be of that session.
        #expect(try await memory.hasEnded(origin(issued: 0, person: "person-3")))
    }

    @Test("An end that is told late does not take back a newer one")
    func order() async throws {
        try await memory.noteEnd(of: .subject("person-1"), issuedAt: end, ofProvider: "idp")
        try await memory.noteEnd(of: .subject("person-1"), issuedAt: end - 60_000, ofProvider: "idp")
        #expect(try await memory.hasEnded(origin(issued: 0)))
        #expect(try await !memory.hasEnded(origin(issued: 1_000)))
    }

    @Test("A sign-in that began after the end was told is a new one, whatever its ID token says")
    func begunAfter() async throws {
        try await memory.noteEnd(of: .subject("person-1"), issuedAt: end, ofProvider: "idp")
        try await memory.noteEnd(of: .session("s-1", subject: "person-3"), issuedAt: end, ofProvider: "idp")
        func origins(begun: Int64?) throws -> [ProviderOrigin] {
            [
                try origin(issued: 0, begun: begun),
                try origin(issued: 5_000, authenticated: -60_000, begun: begun),
                try origin(issued: 5_000, session: "s-1", person: "person-2", begun: begun),
                try origin(issued: 0, person: "person-3", begun: begun),
            ]
        }
        for new in try origins(begun: 1) { #expect(try await !memory.hasEnded(new)) }
        // In the same millisecond, too, the end counts as the later one.
        for begun in [nil, -1, 0] as [Int64?] {
            for old in try origins(begun: begun) { #expect(try await memory.hasEnded(old)) }
        }
    }

    @Test("An end that is told again, or late, holds for all that began before", arguments: [0, -60_000] as [Int64])
    func toldAgain(issued: Int64) async throws {
        let target = LogoutToken.Target.session("s-1", subject: nil)
        try await memory.noteEnd(of: target, issuedAt: end, ofProvider: "idp")
        fixture.clock.advance(by: 10)
        #expect(try await !memory.hasEnded(origin(issued: 0, session: "s-1", begun: 5)))
        try await memory.noteEnd(of: target, issuedAt: end + issued, ofProvider: "idp")
        #expect(try await memory.hasEnded(origin(issued: 0, session: "s-1", begun: 5)))
        #expect(try await memory.hasEnded(origin(issued: 0, session: "s-1", begun: 10)))
        #expect(try await !memory.hasEnded(origin(issued: 0, session: "s-1", begun: 11)))
    }

    @Test("An end that an older version has remembered holds for all that its times hold for")
    func olderVersion() async throws {
        try await memory.noteEnd(of: .session("s-1", subject: nil), issuedAt: end, ofProvider: "idp")
        let hash = PendingLogin.hash(ofState: "idp s-1")
        let now = fixture.clock.read()
        let told = try await fixture.store.take(singleUse: "provider_session_ended_told", hash: hash, now: now)
        #expect(told?.expiresAt ?? 0 > end + ProviderToken.maximumAge)
        #expect(try await memory.hasEnded(origin(issued: 5_000, session: "s-1", begun: 1)))
    }

    @Test("A second end that an older version has remembered is not taken for the first")
    func olderVersionLater() async throws {
        try await memory.noteEnd(of: .session("s-1", subject: nil), issuedAt: end, ofProvider: "idp")
        let hash = PendingLogin.hash(ofState: "idp s-1")
        let now = fixture.clock.read()
        let first = try #require(
            await fixture.store.singleUse(kind: "provider_session_ended_told", hash: hash, now: now))
        fixture.clock.advance(by: 10)
        try await memory.noteEnd(of: .session("s-1", subject: nil), issuedAt: end + 5, ofProvider: "idp")
        #expect(try await !memory.hasEnded(origin(issued: 0, session: "s-1", begun: 11)))
        // The older version does not write when it was told.
        _ = try await fixture.store.take(singleUse: "provider_session_ended_told", hash: hash, now: now)
        try await fixture.store.raise(singleUse: first)
        #expect(try await memory.hasEnded(origin(issued: 0, session: "s-1", begun: 11)))
    }

    @Test("A pending login is taken with the store's time at which it was kept")
    func pending() async throws {
        let begun = PendingLogin(
            stateHash: [1], provider: "idp", issuer: "https://idp.example", sessionID: "ses_1", sessionEpoch: 1,
            codeChallenge: "c", returnTo: .root, maximumAge: nil, createdAt: end)
        fixture.clock.advance(by: 7)
        try await memory.keep(begun)
        fixture.clock.advance(by: 7)
        var kept = begun
        kept.keptAt = end + 7
        #expect(try await memory.find(stateHash: [1]) == kept)
        #expect(try await memory.take(stateHash: [1]))
        #expect(try await memory.find(stateHash: [1]) == nil)
        #expect(try await !memory.take(stateHash: [1]))
    }
}
