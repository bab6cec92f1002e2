import Encodings
import JOSE
import Synchronization
import Testing

@testable import HostileTokens

/// A counter that can be used from any thread.
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
            environment: .init(now: clock, pause: pause, canaryVisits: canaryVisits), send: send)
    }

    @Test("Each attack is made between two control requests, and each request waits for the rate limit")
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
        #expect(report.count(.passed) == 3)
        #expect(log.withLock { $0 } == [false, true, false, true, false, true, false, true])
        #expect(pauses.value == 8)
    }

    @Test("If the target is gone after an attack, only its acceptance is a verdict, and nothing more is sent")
    func deadTarget() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let attacks = Array(AttackCatalogue.attacks(in: [.none]).prefix(4))
        let count = Counter()
        for status in [401, 200] {
            let start = count.value
            let report = try await runner(material) { request in
                // The bare request, the control, the attack, and nothing after them.
                if count.raise() > start + 3 { throw SendFailure(.unreachable, "no listener") }
                return RawResponse(status: request == control ? 200 : count.value == start + 1 ? 401 : status)
            }.run(attacks)
            let first = status == 200 ? Verdict.failed : .inconclusive
            #expect(report.results.map(\.verdict) == [first] + Array(repeating: .inconclusive, count: 3))
            #expect(report.exitCode == (status == 200 ? 1 : 2))
            #expect(count.value == start + 5, "one more try after the lost control, and no attack")
        }
    }

    @Test("A run ends after five attacks without an answer in time", arguments: ["J01-*", "J02-opaque-*"])
    func silentTarget(pattern: String) async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let bare = Transport.authorization.bareRequest(to: target)
        let count = Counter()
        let report = try await runner(material) { request in
            if request == control { return RawResponse(status: 200) }
            if request == bare { return RawResponse(status: 401) }
            count.raise()
            throw SendFailure(.timedOut, "no answer in time")
        }.run(CaseCatalogue.cases(only: [pattern]))
        #expect(count.value == 5)
        #expect(report.count(.inconclusive) == report.made && report.exitCode == 2)
    }

    @Test("A run ends after five answers to the valid token that did not end; others in between do not count")
    func endlessAnswers() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let attacks = Array(AttackCatalogue.attacks(in: [.none]).prefix(10))
        let controls = Counter()
        let report = try await runner(material) { request in
            var answer = RawResponse(status: request == control ? 200 : 401)
            // The first is before all attacks, and the third one ends.
            answer.isCut = request == control && controls.raise() != 3
            return answer
        }.run(attacks)
        #expect(report.count(.passed) == 7 && report.count(.inconclusive) == 3)
        #expect(report.results.last?.reason.contains("5 answers to the good token in a row did not end") == true)
    }

    @Test("A valid token that has expired is renewed if possible")
    func renewal() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let key = try Keys.key(.es256)
        let next = Array(try key.sign(claims: goodClaims, type: "at+jwt").utf8)
        let fresh = try #require(Transport.authorization.request(.token(next), to: target))
        let old = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        let uses = Counter()
        let runner = Runner(
            target: target, material: material, environment: .init(now: { now }, renew: { next })
        ) { request in
            let isGood = request == fresh || (request == old && uses.raise() < 2)
            return RawResponse(status: isGood ? 200 : 401)
        }
        let report = try await runner.run(Array(AttackCatalogue.attacks(in: [.none]).prefix(3)))
        #expect(report.complaints == [] && report.count(.passed) == 3)
    }

    @Test("A rate limit, an expired token and a missing answer make an attack inconclusive", arguments: 0..<3)
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
        #expect(report.exitCode == 2)
    }

    @Test("A target that refuses the valid token, or accepts requests without one, is not judged")
    func unfitTargets() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        await #expect(throws: RunError(.goodTokenRefused, "")) {
            try await runner(material) { _ in RawResponse(status: 401) }.run(oneAttack)
        }
        await #expect(throws: RunError(.unprotected, "")) {
            try await runner(material) { _ in RawResponse(status: 200) }.run(oneAttack)
        }
        await #expect(throws: RunError(.unreachable, "")) {
            try await runner(material) { _ in throw SendFailure(.unreachable, "no listener") }.run(oneAttack)
        }
    }

    @Test("With a signer that the target does not trust, signed attacks are skipped with the reason")
    func unknownSigner() async throws {
        let gateway = MemoryGateway(accepts: try strictVerifier(Keys.key(.es256)))
        let good = try material(Keys.key(.es256), signs: false)
        let stranger = try material(SigningKey.generate(.es256, keyID: "stranger"))
        let mixed = try AttackMaterial(
            goodToken: good.goodToken, keySet: good.keySetText, issuer: stranger.issuer, now: now)
        let report = try await run(AttackCatalogue.attacks(in: [.audience]), gateway, mixed)
        #expect(report.signer == .refused)
        #expect(report.made == 0 && report.exitCode == 2)
    }

    @Test("A connection to the canary fails the attack with any answer")
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
        #expect(report.ids(.failed).contains("J06-jku-canary"))
        #expect(report.ids(.passed).contains("J06-x5u-canary"))
    }

    @Test("A refusal with another status fails a strict target, and passes others", arguments: [true, false])
    func oddStatus(isStrict: Bool) async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        for status in [500, 302, 404, 403] {
            var target = target
            target.isStrict = isStrict
            let runner = Runner(target: target, material: material, environment: .init(now: { now })) { request in
                RawResponse(status: request == control ? 200 : status)
            }
            let report = try await runner.run(oneAttack)
            #expect(report.count(isStrict ? .failed : .passed) == 1)
        }
    }

    @Test("The target's profile defines which statuses are success")
    func successStatuses() async throws {
        let material = try material(Keys.key(.es256), signs: false)
        let control = try #require(Transport.authorization.request(.token(material.goodToken), to: target))
        for (answer, verdict) in [(204, Verdict.failed), (200, .passed)] {
            var target = target
            target.isStrict = false
            target.successStatuses = [204]
            let bare = Transport.authorization.bareRequest(to: target)
            let runner = Runner(target: target, material: material, environment: .init(now: { now })) { request in
                let isBare = request == bare
                return RawResponse(status: request == control ? 204 : isBare ? 403 : answer)
            }
            let report = try await runner.run(oneAttack)
            #expect(report.count(verdict) == 1)
        }
    }
}
