import Caching
import Libcrypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Remembers which tokens were verified, for one event loop. Not thread-safe: confined to its owner.
///
/// Only accepted tokens are kept, found by all of their bytes, so no guess and no collision opens anything. A hit is
/// worth no more than the token itself: not past its end, not without its key, not after its revocation.
package final class VerifiedTokenCache {
    private struct Remembered {
        let token: [UInt8]
        let principal: Principal
        /// The generations at which the entry was last compared with keys and revocations.
        var keyGeneration: UInt64
        var revocationGeneration: UInt64

        var weight: Int { max(token.count, VerifiedTokenCache.leastWeight) }
    }

    /// Of 8 MiB this leaves room for 8192 tokens.
    private static let leastWeight = 1024

    private let securityGuard: SecurityGuard
    private let skew: Int64
    /// Random per process, so that nobody outside can aim at a place in the table.
    private let seed: UInt64
    /// By the hash of the token's bytes, which are compared then.
    private var tokens: BoundedCache<UInt64, Remembered>

    /// - Parameter byteLimit: of the tokens that are kept; one of less than a KiB counts as that.
    package init(_ securityGuard: SecurityGuard, byteLimit: Int = 8 << 20) {
        self.securityGuard = securityGuard
        skew = securityGuard.policy.clockSkew
        seed = SecureRandom.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        tokens = BoundedCache(capacity: byteLimit)
    }

    package var count: Int { tokens.count }

    /// Who the token speaks for, if it was verified before and nothing has changed that; nil says nothing.
    package func remembered(_ token: UnsafeRawBufferPointer, now: Int64) -> Principal? {
        remembered(token, hash(token), now: now)
    }

    private func remembered(_ token: UnsafeRawBufferPointer, _ hash: UInt64, now: Int64) -> Principal? {
        guard let entry = tokens.value(for: hash), Self.isSame(entry.token, token) else { return nil }
        return stillHolds(entry, hash, now: now) ? entry.principal : nil
    }

    /// Who the token speaks for: from memory where that still holds, else from a full check.
    package func principal(for token: UnsafeRawBufferPointer, now: Int64) -> Result<Principal, TokenFault> {
        let hash = hash(token)
        if let principal = remembered(token, hash, now: now) { return .success(principal) }
        // Read before judging: what changes meanwhile is then looked at again at the next hit.
        let keys = securityGuard.keyGeneration
        let revocations = securityGuard.revocationCount
        let verdict = securityGuard.judge(token: token, now: now)
        if case .success(let principal) = verdict {
            store(token, hash, principal, keys: keys, revocations: revocations)
        } else if let entry = tokens.value(for: hash), Self.isSame(entry.token, token) {
            tokens.remove(hash)
        }
        return verdict
    }

    package func principal(for token: some Collection<UInt8>, now: Int64) -> Result<Principal, TokenFault> {
        let verdict = token.withContiguousStorageIfAvailable { principal(for: UnsafeRawBufferPointer($0), now: now) }
        return verdict ?? Array(token).withUnsafeBytes { principal(for: $0, now: now) }
    }

    package func removeAll() { tokens.removeAll() }

    private func stillHolds(_ entry: Remembered, _ hash: UInt64, now: Int64) -> Bool {
        let principal = entry.principal
        guard principal.isCurrent(at: now, skew: skew) else { return false }
        let keys = securityGuard.keyGeneration
        let revocations = securityGuard.revocationCount
        if entry.keyGeneration == keys, entry.revocationGeneration == revocations { return true }
        guard entry.keyGeneration == keys || securityGuard.keyRing.verifies(thumbprint: principal.keyThumbprint),
            entry.revocationGeneration == revocations || !securityGuard.isRevoked(principal)
        else { return false }
        var entry = entry
        entry.keyGeneration = keys
        entry.revocationGeneration = revocations
        tokens.insert(entry, for: hash, weight: entry.weight)
        return true
    }

    private static func isSame(_ kept: [UInt8], _ token: UnsafeRawBufferPointer) -> Bool {
        kept.withUnsafeBytes { own in
            guard own.count == token.count, let mine = own.baseAddress, let other = token.baseAddress else {
                return false
            }
            return memcmp(mine, other, own.count) == 0
        }
    }

    private func hash(_ token: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(seed)
        hasher.combine(bytes: token)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// A loop that judges a token while it is already there, or another one of the same hash: the newer stays.
    private func store(
        _ token: UnsafeRawBufferPointer, _ hash: UInt64, _ principal: Principal, keys: UInt64, revocations: UInt64
    ) {
        let entry = Remembered(
            token: Array(token), principal: principal, keyGeneration: keys, revocationGeneration: revocations)
        tokens.insert(entry, for: hash, weight: entry.weight)
    }
}
