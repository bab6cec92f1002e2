import BasicsForTests
import Testing

@testable import TrafficCop

@Suite struct TrafficCopTests {
    let clock = TestClock()

    private func makeCop(_ limits: RateLimits = RateLimits()) -> TrafficCop {
        TrafficCop(limits: limits, clock: { [clock] in clock.now })
    }

    private static let intents = [
        SessionIntent(kind: .anonymous, clientAddress: "192.0.2.1", metadata: #"{"a":1}"#),
        SessionIntent(kind: .authenticated, clientAddress: "192.0.2.1", tenantID: "t", userID: "usr_a"),
        SessionIntent(kind: .upgrade, clientAddress: "192.0.2.1", sessionID: "ses_a", tenantID: "t", userID: "usr_a"),
        SessionIntent(kind: .resume, clientAddress: "192.0.2.1", sessionID: "ses_a", tenantID: "t", userID: "usr_a"),
    ]

    @Test("A contract is valid for its intent, once", arguments: intents)
    func goodOnce(intent: SessionIntent) throws {
        let trafficCop = makeCop()
        let contract = try trafficCop.prepare(intent).get()
        #expect(try trafficCop.validate(contract, for: intent).get().intent == intent)
        #expect(trafficCop.validate(contract, for: intent).failure?.code == .contractReplayed)
    }

    struct Tampering: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: Denial.Code
        let apply: @Sendable (inout ExecutionContract) -> Void
    }

    static let tamperings: [Tampering] = [
        Tampering(testDescription: "kind unknown", expected: .intentUnknown) { $0.kind = "root" },
        Tampering(testDescription: "kind of another", expected: .contractMismatch) { $0.kind = "authenticated" },
        Tampering(testDescription: "other intent", expected: .contractMismatch) { $0.intentID = "other" },
        Tampering(testDescription: "other fields", expected: .contractMismatch) { $0.fieldsDigest[0] ^= 1 },
        Tampering(testDescription: "no fields", expected: .contractMismatch) { $0.fieldsDigest = [] },
        Tampering(testDescription: "longer life", expected: .contractForged) { $0.expiresAt += 1 },
        Tampering(testDescription: "issued later", expected: .contractExpired) { $0.issuedAt += 1 },
        Tampering(testDescription: "issued earlier", expected: .contractForged) { $0.issuedAt -= 1 },
        Tampering(testDescription: "overflowing time", expected: .contractExpired) { $0.issuedAt = .min },
        Tampering(testDescription: "already over", expected: .contractExpired) { $0.expiresAt = 0 },
        Tampering(testDescription: "other nonce", expected: .contractForged) { $0.nonce[3] ^= 1 },
        Tampering(testDescription: "flipped MAC", expected: .contractForged) { $0.mac[31] ^= 0x80 },
        Tampering(testDescription: "no MAC", expected: .contractForged) { $0.mac = [] },
        Tampering(testDescription: "short MAC", expected: .contractForged) { $0.mac.removeLast() },
    ]

    @Test("A changed contract is refused, and does not use up the real one", arguments: tamperings)
    func tampered(_ tampering: Tampering) throws {
        let trafficCop = makeCop()
        let intent = Self.intents[0]
        let contract = try trafficCop.prepare(intent).get()
        var changed = contract
        tampering.apply(&changed)
        #expect(trafficCop.validate(changed, for: intent).failure?.code == tampering.expected)
        #expect(trafficCop.validate(contract, for: intent).failure == nil)
    }

    @Test("Every field of the intent is bound")
    func fieldsAreBound() {
        let base = SessionIntent(
            kind: .upgrade, clientAddress: "a", sessionID: "s", tenantID: "t", userID: "u", metadata: "{}")
        func other(
            _ kind: SessionIntent.Kind = .upgrade, _ address: String = "a", _ session: String? = "s",
            _ tenant: String? = "t", _ user: String? = "u", _ metadata: String = "{}"
        ) -> SessionIntent {
            SessionIntent(
                kind: kind, clientAddress: address, sessionID: session, tenantID: tenant, userID: user,
                metadata: metadata)
        }
        #expect(other().fieldsDigest == base.fieldsDigest)
        let variants = [
            other(.resume), other(.upgrade, "b"), other(.upgrade, "a", "x"), other(.upgrade, "a", nil),
            other(.upgrade, "a", "s", "x"), other(.upgrade, "a", "s", "t", "x"),
            other(.upgrade, "a", "s", "tu", ""), other(.upgrade, "a", "s", "t", "u", #"{"a":1}"#),
        ]
        #expect(Set(variants.map(\.fieldsDigest) + [base.fieldsDigest]).count == variants.count + 1)
    }

    @Test("An intent with fields that its kind does not have is unknown")
    func misshapen() {
        let trafficCop = makeCop()
        let misshapen = [
            SessionIntent(kind: .anonymous, clientAddress: "a", sessionID: "ses_chosen"),
            SessionIntent(kind: .anonymous, clientAddress: "a", tenantID: "t", userID: "u"),
            SessionIntent(kind: .authenticated, clientAddress: "a", tenantID: "t"),
            SessionIntent(kind: .authenticated, clientAddress: "a", tenantID: "", userID: "u"),
            SessionIntent(
                kind: .authenticated, clientAddress: "a", sessionID: "ses_chosen", tenantID: "t", userID: "u"),
            SessionIntent(kind: .upgrade, clientAddress: "a", tenantID: "t", userID: "u"),
            SessionIntent(kind: .resume, clientAddress: "a", sessionID: "s"),
        ]
        for intent in misshapen { #expect(trafficCop.prepare(intent).failure?.code == .intentUnknown) }
    }

    @Test("A contract lasts 30 seconds, not one millisecond longer, and not before its time")
    func lifetime() throws {
        let trafficCop = makeCop()
        let intent = Self.intents[1]
        let first = try trafficCop.prepare(intent).get()
        clock.advance(by: 29_999)
        #expect(trafficCop.validate(first, for: intent).failure == nil)
        let second = try trafficCop.prepare(intent).get()
        clock.advance(by: 30_000)
        #expect(trafficCop.validate(second, for: intent).failure?.code == .contractExpired)
        clock.advance(by: -30_001)
        #expect(trafficCop.validate(second, for: intent).failure?.code == .contractExpired)
    }

    @Test("Another process's contract is forged")
    func otherIssuer() throws {
        let intent = Self.intents[1]
        let contract = try makeCop().prepare(intent).get()
        #expect(makeCop().validate(contract, for: intent).failure?.code == .contractForged)
    }

    @Test("Of concurrent uses of one contract, one succeeds")
    func oneWinner() async throws {
        let trafficCop = makeCop()
        let intent = Self.intents[1]
        let contract = try trafficCop.prepare(intent).get()
        let winners = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 { group.addTask { trafficCop.validate(contract, for: intent).failure == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(winners == 1)
    }

    @Test("Anonymous sessions are limited by address; preparing a contract takes nothing")
    func anonymousLimit() throws {
        let trafficCop = makeCop(RateLimits(anonymousPerMinute: 3))
        func attempt(_ address: String) -> Denial? {
            let intent = SessionIntent(kind: .anonymous, clientAddress: address)
            switch trafficCop.prepare(intent) {
            case .failure(let denial): return denial
            case .success(let contract): return trafficCop.validate(contract, for: intent).failure
            }
        }
        for _ in 0..<10 { _ = trafficCop.prepare(SessionIntent(kind: .anonymous, clientAddress: "a")) }
        for _ in 0..<3 { #expect(attempt("a") == nil) }
        let denial = attempt("a")
        #expect(denial?.code == .rateLimited && denial?.retryAfterSeconds == 20)
        #expect(attempt("b") == nil)
        clock.advance(by: 20_000)
        #expect(attempt("a") == nil)
        #expect(attempt("a")?.code == .rateLimited)
    }

    @Test("Contracts prepared at the same time can't exceed a limit together")
    func limitAtValidation() throws {
        let trafficCop = makeCop(RateLimits(anonymousPerMinute: 2))
        let intents = (0..<5).map { _ in SessionIntent(kind: .anonymous, clientAddress: "a") }
        let contracts = try intents.map { try trafficCop.prepare($0).get() }
        let passed = zip(contracts, intents).filter { trafficCop.validate($0, for: $1).failure == nil }
        #expect(passed.count == 2)
    }

    @Test("Nothing is limited if limits are switched off")
    func disabled() throws {
        let trafficCop = makeCop(RateLimits(enabled: false, anonymousPerMinute: 1, loginPerMinute: 1))
        for _ in 0..<50 {
            let intent = SessionIntent(kind: .anonymous, clientAddress: "a")
            #expect(trafficCop.validate(try trafficCop.prepare(intent).get(), for: intent).failure == nil)
            #expect(trafficCop.admitLogin(address: "a", account: "b").failure == nil)
        }
    }

    @Test("The number of unused contracts is bounded, and expired ones make room")
    func bounded() {
        let trafficCop = TrafficCop(
            limits: RateLimits(enabled: false), clock: { [clock] in clock.now }, limiter: RateLimiter(),
            outstanding: OutstandingContracts(capacity: 4))
        let intent = Self.intents[1]
        for _ in 0..<4 { #expect(trafficCop.prepare(intent).failure == nil) }
        #expect(trafficCop.prepare(intent).failure?.code == .overloaded)
        self.clock.advance(by: 30_000)
        #expect(trafficCop.prepare(intent).failure == nil)
    }
}

extension Result {
    var failure: Failure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }
}
