import BasicsForTests
import JOSE
import StateSurface
import Synchronization
import Testing

@testable import SecurityGuard

@Suite("Keys that change under load")
struct KeyRotationUnderLoadTests {
    /// What the callers have seen so far.
    private struct Tally: Sendable {
        var judged = 0
        var refusedGood: [String] = []
        var acceptedBad: [String] = []
    }

    /// What the callers and the test tell each other.
    private final class Shared: Sendable {
        let tally = Mutex(Tally())
        let isOver = Atomic(false)
        let retired = Atomic(false)
        let acceptedLate = Atomic(0)
        let refusedEarly = Atomic(0)
        let refused = Atomic(0)
    }

    @Test("Rotations refuse no valid token and accept no invalid one while tokens are issued and verified")
    func rotations() async throws {
        let fixture = try await Fixture()
        let guardian = fixture.subject
        let stranger = try SigningKey.generate(.es256, keyID: guardian.keyRing.signingKey.keyID)
        let claims = try UnverifiedToken(try await fixture.login().accessToken).unverifiedClaims().members
        let forged = try stranger.sign(claims: claims, type: "at+jwt")
        let shared = Shared()
        var signers: Set<String> = [guardian.keyRing.signingKey.keyID]

        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var held: [String] = []
                    while !shared.isOver.load(ordering: .relaxed) {
                        // A new token of the current signing key, and those of earlier keys.
                        held.append(try Self.token(guardian.keyRing.signingKey, claims, fixture.clock.now))
                        for token in held.suffix(4) {
                            if case .failure(let fault) = guardian.judge(token: token.utf8) {
                                shared.tally.withLock { $0.refusedGood.append(fault.reason) }
                            }
                        }
                        if case .success = guardian.judge(token: forged.utf8) {
                            shared.tally.withLock { $0.acceptedBad.append("forged") }
                        }
                        shared.tally.withLock { $0.judged += 1 }
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<6 {
                _ = try guardian.keyDirectory.rotate()
                try await guardian.reload()
                try await waitForCallers(shared)
                fixture.clock.advance(by: KeySchedule.lead)
                try await guardian.reload()
                signers.insert(guardian.keyRing.signingKey.keyID)
                try await waitForCallers(shared)
            }
            shared.isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }

        let seen = shared.tally.withLock { $0 }
        #expect(seen.refusedGood.isEmpty, "\(Set(seen.refusedGood))")
        #expect(seen.acceptedBad.isEmpty)
        #expect(signers.count == 7)
    }

    @Test("A key that is retired under load is believed until the ring changes and never after")
    func retirement() async throws {
        let fixture = try await Fixture()
        let guardian = fixture.subject
        let old = guardian.keyRing.signingKey
        let claims = try UnverifiedToken(try await fixture.login().accessToken).unverifiedClaims().members
        let token = try Self.token(old, claims, fixture.clock.now)
        let shared = Shared()

        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    while shared.refused.load(ordering: .acquiring) < 20 {
                        let isRetired = shared.retired.load(ordering: .acquiring)
                        let isKnown = guardian.keyRing.key(id: old.keyID) != nil
                        switch guardian.judge(token: token.utf8) {
                        case .success where isRetired: shared.acceptedLate.add(1, ordering: .relaxed)
                        case .failure where isKnown && guardian.keyRing.key(id: old.keyID) != nil:
                            shared.refusedEarly.add(1, ordering: .relaxed)
                        case .failure: shared.refused.add(1, ordering: .acquiringAndReleasing)
                        case .success: break
                        }
                        await Task.yield()
                    }
                }
            }
            _ = try guardian.keyDirectory.retire(keyID: old.keyID)
            try await guardian.reload()
            shared.retired.store(true, ordering: .releasing)
            try await group.waitForAll()
        }

        #expect(shared.acceptedLate.load(ordering: .relaxed) == 0)
        #expect(shared.refusedEarly.load(ordering: .relaxed) == 0)
        let fresh = try Self.token(guardian.keyRing.signingKey, claims, fixture.clock.now)
        #expect(throws: Never.self) { try fixture.judge(fresh).get() }
    }

    private func waitForCallers(_ shared: Shared) async throws {
        let start = shared.tally.withLock { $0.judged }
        while shared.tally.withLock({ $0.judged }) < start + 10 { await Task.yield() }
    }

    private static func token(_ key: SigningKey, _ claims: JSONObject, _ now: Int64) throws -> String {
        var claims = claims
        claims["iat"] = .integer(now / 1000)
        claims["nbf"] = .integer(now / 1000)
        claims["exp"] = .integer(now / 1000 + 900)
        return try key.sign(claims: claims, type: "at+jwt")
    }
}
