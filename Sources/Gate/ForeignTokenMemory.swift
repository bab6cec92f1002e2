import Caching
import SecurityGuard

/// The verified tokens of other issuers that one event loop keeps, so that a request takes no lock for them.
package final class ForeignTokenMemory {
    private struct Remembered {
        let principal: Principal
        /// The generation of revocations at which it was last checked.
        let revocations: UInt64
    }

    /// The tokens of all loops.
    let shared: ForeignTokens
    private let securityGuard: SecurityGuard
    private let skew: Int64
    private var remembered = BoundedCache<[UInt8], Remembered>(capacity: 2_048)

    /// Creates an empty memory; nil where no issuer's tokens are accepted at the gate.
    package init?(_ securityGuard: SecurityGuard) {
        guard !securityGuard.foreignTokens.isEmpty else { return nil }
        shared = securityGuard.foreignTokens
        self.securityGuard = securityGuard
        skew = securityGuard.policy.clockSkew
    }

    /// The principal of a token that was verified lately, is still good, and is for this resource (nil for all that is
    /// none); nil for any other.
    func known(_ token: [UInt8], now: Int64, resource: String?) -> Principal? {
        guard let principal = known(token, now: now), principal.isFor(resource: resource) else { return nil }
        return principal
    }

    private func known(_ token: [UInt8], now: Int64) -> Principal? {
        // Read first, so that a revocation in the meantime is noticed at the next request.
        let revocations = securityGuard.revocationCount
        if let entry = remembered.value(for: token, at: now), entry.revocations == revocations,
            entry.principal.isCurrent(at: now, skew: skew)
        {
            return entry.principal
        }
        guard let principal = shared.known(token, now: now) else {
            remembered.remove(token)
            return nil
        }
        remembered.insert(
            Remembered(principal: principal, revocations: revocations), for: token,
            until: principal.foreign?.trustedUntil ?? .min, now: now)
        return principal
    }
}
