import BasicsForTests
import Encodings
import JOSE
import Testing

@testable import IdentityProviders

@Suite("Keys and documents of a provider")
struct KeyRotationTests {
    private let keySet = "https://keys.example/jwks"

    private func subjectWorld() throws -> (World, IdentityProvider) {
        var script = try Script()
        script.configuration.acceptsTokens = true
        let world = World(script)
        return (world, world.provider())
    }

    @Test("are fetched once for many who ask at the same time") func singleFlight() async throws {
        let (world, provider) = try subjectWorld()
        let token = try world.current.idToken(nonce: nil)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    if case .success = await provider.identify(subjectToken: token) { true } else { false }
                }
            }
            for await isIdentified in group { #expect(isIdentified) }
        }
        #expect(world.requests(to: keySet) == 1)
        #expect(world.requests.count == 2)
    }

    @Test("are fetched once per half minute for tokens of strangers, however many kids they invent") func flood()
        async throws
    {
        let (world, provider) = try subjectWorld()
        for round in 1...3 {
            for index in 0..<100 {
                let key = try SigningKey.generate(.es256, keyID: "invented-\(round)-\(index)")
                let token = try key.sign(claims: world.current.claims, type: "JWT")
                guard case .failure(let refusal) = await provider.identify(subjectToken: token) else {
                    Issue.record("a stranger signed in")
                    return
                }
                #expect(refusal.label == "key_unknown")
            }
            #expect(world.requests(to: keySet) == round)
            world.clock.advance(by: 30_000)
        }
    }

    @Test("are not fetched at all for a token of another issuer") func otherIssuer() async throws {
        let (world, provider) = try subjectWorld()
        world.change { $0.claims["iss"] = "https://evil.example" }
        guard case .failure = await provider.identify(subjectToken: try world.current.idToken(nonce: nil)) else {
            Issue.record("a foreign token signed in")
            return
        }
        #expect(world.requests.isEmpty)
    }

    @Test("change at the provider, and the next sign-in asks again, once") func rotation() async throws {
        let world = World(try Script())
        let provider = world.provider()
        #expect(try await world.finish(provider, try await world.begin(provider)).summary == "identified")
        world.clock.advance(by: 1_000)
        let new = try SigningKey.generate(.es256)
        world.change {
            $0.signer = new
            $0.keys = [new]
        }
        #expect(try await world.finish(provider, try await world.begin(provider)).summary == "identified")
        #expect(world.requests(to: keySet) == 2)
        // The old key went with the new set.
        let old = try TestKeys.provider.get()
        world.change { $0.signer = old }
        world.clock.advance(by: 1_000)
        #expect(
            try await world.finish(provider, try await world.begin(provider)).summary
                == "provider_unavailable: key_unknown")
        #expect(world.requests(to: keySet) == 3)
    }

    @Test("are believed for a day while the provider is away, and no longer") func outage() async throws {
        let (world, provider) = try subjectWorld()
        world.change { $0.claims["exp"] = 1_800_200_000 }
        let token = try world.current.idToken(nonce: nil)
        func isIdentified() async -> Bool {
            if case .success = await provider.identify(subjectToken: token) { true } else { false }
        }
        #expect(await isIdentified())
        world.change {
            $0.keySetAnswer = { _ in throw ProviderFault(.unreachable, "away") }
            $0.discoveryAnswer = { _ in throw ProviderFault(.unreachable, "away") }
        }
        world.clock.advance(by: KeySetCache.freshness)
        #expect(await isIdentified())
        #expect(world.requests(to: keySet) == 2)
        world.clock.advance(by: KeySetCache.staleness - KeySetCache.freshness)
        #expect(await isIdentified())
        world.clock.advance(by: 1)
        #expect(await isIdentified() == false)
    }

    @Test("are asked for again when the clock was set back") func clock() throws {
        var cache = KeySetCache()
        let header = try UnverifiedToken(try TestKeys.provider.get().sign(claims: [:], type: "JWT")).header
        guard case .fetch = cache.decide(header, from: .caller, now: start) else {
            Issue.record("nothing was fetched")
            return
        }
        cache.finished(nil, now: start)
        guard case .refuse = cache.decide(header, from: .caller, now: start + 29_999) else {
            Issue.record("the cool-down was not kept")
            return
        }
        guard case .fetch = cache.decide(header, from: .caller, now: start - 1) else {
            Issue.record("a clock that was set back stops everything")
            return
        }
    }

    @Test("A discovery document counts for an hour, then is asked for again") func discovery() async throws {
        let world = World(try Script())
        let provider = world.provider()
        let place = "https://idp.example/.well-known/openid-configuration"
        _ = try await provider.begin(session: session, returnTo: .root)
        world.clock.advance(by: 3_599_999)
        _ = try await provider.begin(session: session, returnTo: .root)
        #expect(world.requests(to: place) == 1)
        world.clock.advance(by: 1)
        world.change { $0.discoveryAnswer = { $0.with(status: 503) } }
        _ = try await provider.begin(session: session, returnTo: .root)
        #expect(world.requests(to: place) == 2)
        world.clock.advance(by: 86_400_000)
        await #expect(throws: ProviderFault(.statusUnexpected, "")) {
            try await provider.begin(session: session, returnTo: .root)
        }
    }

    @Test("A sign-in takes ten seconds at most, however slow each answer is") func deadline() async throws {
        let world = World(try Script())
        let provider = world.provider()
        let response = try await world.begin(provider)
        world.change { script in
            script.tokenAnswer = { [clock = world.clock] answer in
                clock.advance(by: 10_000)
                return answer
            }
        }
        #expect(try await world.finish(provider, response).summary == "provider_unavailable: timed_out")
        #expect(world.requests(to: keySet) == 0)
    }

    @Test("Discovery of an issuer asks below its path") func place() {
        #expect(
            ProviderMetadata.url(ofIssuer: "https://idp.example/realms/a/")?.text
                == "https://idp.example/realms/a/.well-known/openid-configuration")
        #expect(ProviderMetadata.url(ofIssuer: "https://idp.example?x=1") == nil)
        #expect(ProviderMetadata.url(ofIssuer: "not a URL") == nil)
    }
}
