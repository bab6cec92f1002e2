import BasicsForTests
import JOSE
import Testing

@testable import SecurityGuard

@Suite("Remote key set")
struct RemoteKeySetTests {
    let clock = TestClock()
    let one: SigningKey
    let two: SigningKey
    let fetches = Collected<String>()

    init() throws {
        one = try SigningKey.generate(.es256)
        two = try SigningKey.generate(.es256)
    }

    func set(_ answer: @escaping @Sendable () throws -> [SigningKey]) throws -> RemoteKeySet {
        let fetches = fetches
        return try RemoteKeySet(
            .url("https://idp.example/jwks"), algorithms: [.es256],
            fetch: { url in
                fetches.append(url)
                return Array(JWKSet.publicJSON(of: try answer().map(\.verificationKey)).utf8)
            }, clock: clock.read)
    }

    @Test("A flood of unknown kids fetches once per cool-down")
    func flood() async throws {
        let set = try set { [one] }
        #expect(await set.candidates(keyID: one.keyID).count == 1)
        for index in 0..<1000 { #expect(await set.candidates(keyID: "unknown-\(index)").isEmpty) }
        #expect(fetches.all.count == 1)
        clock.advance(by: RemoteKeySet.coolDown)
        for index in 0..<1000 { #expect(await set.candidates(keyID: "unknown-\(index)").isEmpty) }
        #expect(fetches.all.count == 2)
    }

    @Test("Many who ask at the same time wait for one fetch")
    func singleFlight() async throws {
        let set = try set { [one] }
        let keyID = one.keyID
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { await set.candidates(keyID: keyID).count } }
            for await count in group { #expect(count == 1) }
        }
        #expect(fetches.all.count == 1)
    }

    @Test("A new key is found once the cool-down is over")
    func rotation() async throws {
        let (first, second) = (one, two)
        let holder = Collected<SigningKey>()
        holder.append(first)
        let set = try set { holder.all }
        #expect(await set.candidates(keyID: first.keyID).count == 1)
        holder.append(second)
        #expect(await set.candidates(keyID: second.keyID).isEmpty)
        clock.advance(by: RemoteKeySet.coolDown)
        #expect(await set.candidates(keyID: second.keyID).count == 1)
        // Two keys now: a token without kid fits neither.
        #expect(await set.candidates(keyID: nil).isEmpty)
    }

    @Test("A failed fetch keeps what is known for a day and no longer")
    func outage() async throws {
        let down = TestClock(0)
        let first = one
        let set = try set {
            if down.now > 0 { throw GuardError(.issuer, "down") }
            return [first]
        }
        #expect(await set.candidates(keyID: nil).count == 1)
        down.advance(by: 1)
        clock.advance(by: RemoteKeySet.freshness)
        #expect(await set.candidates(keyID: first.keyID).count == 1)
        #expect(fetches.all.count == 2)
        clock.advance(by: RemoteKeySet.staleness)
        #expect(await set.candidates(keyID: first.keyID).isEmpty)
    }

    @Test("A kid beyond 128 bytes finds nothing")
    func longKeyID() async throws {
        let set = try set { [one] }
        #expect(await set.candidates(keyID: String(repeating: "a", count: 129)).isEmpty)
    }
}
