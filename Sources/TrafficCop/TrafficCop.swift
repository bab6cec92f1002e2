import Libcrypto
import Synchronization

/// Decides which intents may be carried out, and how often a caller may try.
///
/// All state is in memory; it imports no store, no session and no network code.
package final class TrafficCop: Sendable {
    private let holder: LimitHolder
    private var limits: RateLimits { holder.limits }
    private let clock: @Sendable () -> Int64
    private let limiter: RateLimiter
    private let outstanding: OutstandingContracts
    private let key: HMACKey
    let counterKey: HMACKey
    private let primitives: [Primitive]

    /// For a single node: the names of login counters are made with a random key.
    ///
    /// - Parameter clock: the time in Unix milliseconds.
    package convenience init(limits: RateLimits = RateLimits(), clock: @escaping @Sendable () -> Int64) {
        self.init(limits: limits, clock: clock, limiter: RateLimiter(), outstanding: OutstandingContracts())
    }

    /// For several nodes that count failed logins in one store.
    ///
    /// - Parameters:
    ///   - limits: how often a caller may try.
    ///   - counterSecret: the HMAC key for the names of the counters in the store; the same on every node.
    ///   - clock: the time in Unix milliseconds.
    /// - Throws: when the secret cannot be used as an HMAC-SHA-256 key.
    package convenience init(
        limits: RateLimits, counterSecret: [UInt8], clock: @escaping @Sendable () -> Int64
    ) throws {
        self.init(
            limits: limits, counterKey: try HMACKey(.sha256, key: counterSecret), clock: clock, limiter: RateLimiter(),
            outstanding: OutstandingContracts())
    }

    /// A new random counter secret of 32 bytes.
    package static func makeCounterSecret() -> [UInt8] { SecureRandom.bytes(32) }

    init(
        limits: RateLimits, counterKey: HMACKey = .ephemeral(), clock: @escaping @Sendable () -> Int64,
        limiter: RateLimiter, outstanding: OutstandingContracts
    ) {
        self.counterKey = counterKey
        let key = HMACKey.ephemeral()
        let holder = LimitHolder(limits)
        self.holder = holder
        self.clock = clock
        self.limiter = limiter
        self.outstanding = outstanding
        self.key = key
        self.primitives = [
            .typeKnown,
            .fieldsMatch,
            .notExpired,
            .issuedHere(key: key),
            .singleUse(outstanding),
            .withinLimits { intent in
                Self.decide(intent, cost: 1, limits: holder.limits, limiter: limiter, now: clock())
            },
        ]
    }

    /// Replaces the limits. What was counted before counts on.
    package func limit(_ limits: RateLimits) { holder.limits = limits }

    // MARK: Intents

    /// Issues a contract for an intent. It looks at the rate limits and takes nothing from them.
    ///
    /// - Returns: the contract, or a denial: ``Denial/Code/intentUnknown`` for an intent with the wrong fields,
    ///   ``Denial/Code/rateLimited``, or ``Denial/Code/overloaded`` when too many contracts are unused.
    package func prepare(_ intent: SessionIntent) -> Result<ExecutionContract, Denial> {
        let now = clock()
        guard intent.isWellFormed else { return .failure(Denial(.intentUnknown)) }
        let decision = Self.decide(intent, cost: 0, limits: limits, limiter: limiter, now: now)
        if case .limited(let seconds) = decision {
            return .failure(Denial(.rateLimited, retryAfterSeconds: seconds))
        }
        var contract = ExecutionContract(
            intentID: intent.id, kind: intent.kind.rawValue, fieldsDigest: intent.fieldsDigest, issuedAt: now,
            expiresAt: now + ExecutionContract.lifetime, nonce: SecureRandom.bytes(16))
        contract.mac = contract.computeMAC(key: key)
        guard outstanding.issue(contract.nonce, expiresAt: contract.expiresAt, now: now) else {
            return .failure(Denial(.overloaded, retryAfterSeconds: 1))
        }
        return .success(contract)
    }

    /// Checks a contract against the intent it is presented for. A contract that passes is used up.
    ///
    /// - Returns: the proof that the intent may be carried out, or the denial of the first check that refuses.
    package func validate(
        _ contract: ExecutionContract, for intent: SessionIntent
    ) -> Result<ValidatedIntent, Denial> {
        let evidence = Evidence(contract: contract, intent: intent, now: clock())
        for primitive in primitives {
            if let denial = primitive.check(evidence) { return .failure(denial) }
        }
        return .success(ValidatedIntent(intent: intent))
    }

    private static func decide(
        _ intent: SessionIntent, cost: Int, limits: RateLimits, limiter: RateLimiter, now: Int64
    ) -> RateDecision {
        // An intent with an owner comes after a login, and logins have their own limits.
        guard limits.enabled, intent.kind == .anonymous else { return .allowed }
        return limiter.take(
            .anonymousSession, key: intent.clientAddress, cost: cost, perMinute: limits.perMinute(.anonymousSession),
            now: now)
    }

    // MARK: Limits

    /// Whether logins are limited. If not, failures need not be counted in the store.
    package var limitsLogins: Bool { limits.enabled }

    func perMinute(_ limit: Limit) -> Int64 { Int64(limits.perMinute(limit)) }

    /// Takes `cost` from a key's allowance. With `cost` 0 it takes nothing and says whether something is left.
    package func allow(_ limit: Limit, key: String, cost: Int = 1) -> RateDecision {
        guard limits.enabled else { return .allowed }
        return limiter.take(
            limit, key: key, cost: cost, perMinute: limits.perMinute(limit), now: clock())
    }

    /// Gives back what ``allow(_:key:cost:)`` took.
    package func refund(_ limit: Limit, key: String, cost: Int = 1) {
        guard limits.enabled else { return }
        limiter.refund(limit, key: key, cost: cost, perMinute: limits.perMinute(limit), now: clock())
    }
}

/// The limits that are in force.
private final class LimitHolder: Sendable {
    private let held: Mutex<RateLimits>

    init(_ limits: RateLimits) { self.held = Mutex(limits) }

    var limits: RateLimits {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}
