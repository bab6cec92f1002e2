import Encodings
import JOSE
import Synchronization
import Testing

@testable import HostileTokens

/// Counts what happens, from anywhere.
private final class Counter: Sendable {
    private let state = Mutex(0)
    var value: Int { state.withLock { $0 } }
    @discardableResult
    func raise() -> Int {
        state.withLock {
            $0 += 1
            return $0
        }
    }
}

@Suite("The runner")
struct RunnerTests {
    private let oneAttack = AttackCatalogue.all.filter { $0.id == "J01-none-lowercase" }

    private func runner(
        _ material: AttackMaterial, now clock: @escaping @Sendable () -> Int64 = { now },
        pause: @escaping @Sendable () async throws -> Void = {}, canaryVisits: @escaping @Sendable () -> Int = { 0 },
        send: @escaping Runner.Send
    ) -> Runner {
        Runner(
            target: target, material: material,
            surroundings: .init(now: clock, pause: pause, canaryVisits: canaryVisits), send: send)
    }

    @Test("Each attack stands between two control requests, and each request waits its turn")
    func controlsSurroundAttacks() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let log = Mutex<[Bool]>([])
        let pauses = Counter()
        let attacks = Array(AttackCatalogue.attacks(in: [.none]).prefix(3))
        let report = try await runner(material, pause: { pauses.raise() }) { request in
            log.withLock { $0.append(request == control) }
            return RawResponse(status: request == control ? 200 : 401)
        }.run(attacks)
        #expect(report.count(.pass) == 3)
        #expect(log.withLock { $0 } == [false, true, false, true, false, true, false, true])
        #expect(pauses.value == 8)
    }

    @Test("A target that is gone after an attack has failed it, and later attacks are not made")
    func crashIsAFailure() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let attacks = Array(AttackCatalogue.attacks(in: [.none]).prefix(3))
        let count = Counter()
        let report = try await runner(material) { request in
            // The bare request, the control, the attack; from then on nothing.
            if count.raise() > 3 { throw SendFailure(.unreachable, "nobody listens") }
            return RawResponse(status: request == control ? 200 : 401)
        }.run(attacks)
        #expect(report.results.map(\.verdict) == [.fail, .inconclusive, .inconclusive])
        #expect(report.exitCode == 1)
    }

    @Test("A rate limit, an expired good token and a missing answer leave an attack open", arguments: 0..<3)
    func openVerdicts(index: Int) async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let controls = Counter()
        let report = try await runner(material, now: { index == 1 ? now + 3_600 : now }) { request in
            if request == control, controls.raise() > 1, index < 2 {
                return RawResponse(status: index == 0 ? 429 : 401)
            }
            if request == control { return RawResponse(status: 200) }
            if index == 2, request.bytes.count > 200 { throw SendFailure(.closed, "closed") }
            return RawResponse(status: 401)
        }.run(oneAttack)
        #expect(report.results.map(\.verdict) == [.inconclusive])
        #expect(report.exitCode == 0)
    }

    @Test("A target that refuses the good token, or lets everybody in, is not judged")
    func unfitTargets() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        await #expect(throws: RunError(.goodTokenRefused, "")) {
            try await runner(material) { _ in RawResponse(status: 401) }.run(oneAttack)
        }
        await #expect(throws: RunError(.unprotected, "")) {
            try await runner(material) { _ in RawResponse(status: 200) }.run(oneAttack)
        }
        await #expect(throws: RunError(.unreachable, "")) {
            try await runner(material) { _ in throw SendFailure(.unreachable, "nobody listens") }.run(oneAttack)
        }
    }

    @Test("A signer that the target does not know skips the signed attacks and says so")
    func unknownSigner() async throws {
        let gateway = MemoryGateway(accepts: try strictVerifier(Keys.key(.es256)))
        let good = try material(Keys.key(.es256), signs: false)
        let stranger = try material(SigningKey.generate(.es256, keyID: "stranger"))
        let mixed = try AttackMaterial(
            goodToken: good.goodToken, keySet: good.keySetText, issuer: stranger.issuer, now: now)
        let report = try await run(AttackCatalogue.attacks(in: [.audience]), gateway, mixed)
        #expect(report.signer == .refused)
        #expect(report.results.isEmpty)
    }

    @Test("A visit to the canary's address fails the attack whatever was answered")
    func canaryVisit() async throws {
        let key = try Keys.key(.es256)
        let visits = Counter()
        let strict = try strictVerifier(key)
        let gateway = MemoryGateway { token in
            if let header = try? UnverifiedToken(token).header, header.all["jku"] != nil { visits.raise() }
            return strict(token)
        }
        let report = try await run(
            AttackCatalogue.attacks(in: [.remoteKey]), gateway,
            material(key, signs: false, canaryURL: "http://127.0.0.1:4711/keys"), canaryVisits: { visits.value })
        #expect(report.ids(.fail).contains("J06-jku-canary"))
        #expect(report.ids(.pass).contains("J06-x5u-canary"))
    }

    @Test("A refusal with an odd status, a 500 above all, is a failure")
    func oddStatus() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        for status in [500, 302, 404] {
            let report = try await runner(material) { request in
                RawResponse(status: request == control ? 200 : status)
            }.run(oneAttack)
            #expect(report.count(.fail) == 1)
        }
    }
}
