import BasicsForTests
import Encodings
import IdentityProviders
import SignIn
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
    private func origin(
        issued: Int64, authenticated: Int64? = nil, session: String? = nil, person: String = "person-1",
        provider: String = "idp"
    ) throws -> ProviderOrigin {
        var claims: JSONObject = ["sub": .string(person), "iat": .integer((end + issued) / 1000)]
        if let authenticated { claims["auth_time"] = .integer((end + authenticated) / 1000) }
        if let session { claims["sid"] = .string(session) }
        let configuration = ProviderConfiguration(
            name: provider, issuer: "https://idp.example", clientID: "client", clientAuthentication: .none)
        return ProviderOrigin(try ExternalIdentity.read(claims, of: configuration).get(), of: provider)
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
}
