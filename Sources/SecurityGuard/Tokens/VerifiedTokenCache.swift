import Caching
import Libcrypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A cache of verified tokens for one event loop. It is not thread-safe.
///
/// Only accepted tokens are kept, and all bytes of a token are compared, so a collision of hashes cannot be exploited.
/// A hit is checked for expiry, for its key and for revocation like the token itself.
package final class VerifiedTokenCache {
    private struct Remembered {
        let token: [UInt8]
        let principal: Principal
        /// The generations of keys and revocations at which the entry was last checked.
        var keyGeneration: UInt64
        var revocationGeneration: UInt64

        var weight: Int { max(token.count, VerifiedTokenCache.leastWeight) }
    }

    /// The minimum weight of a token in bytes, so that 8 MiB have room for at most 8192 tokens.
    private static let leastWeight = 1024

    private let securityGuard: SecurityGuard
    private let skew: Int64
    /// A random seed, so that clients cannot choose tokens that collide.
    private let seed: UInt64
    /// The entries by the hash of the token's bytes.
    private var tokens: BoundedCache<UInt64, Remembered>

    /// - Parameter byteLimit: the limit on the size of all tokens in bytes. A token of less than 1 KiB counts as 1 KiB.
    package init(_ securityGuard: SecurityGuard, byteLimit: Int = 8 << 20) {
        self.securityGuard = securityGuard
        skew = securityGuard.policy.clockSkew
        seed = SecureRandom.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        tokens = BoundedCache(capacity: byteLimit)
    }

    /// The number of tokens in the cache.
    package var count: Int { tokens.count }

    /// The principal of a token that is in the cache and still valid; otherwise nil, which does not mean that the token
    /// is invalid.
    package func remembered(_ token: UnsafeRawBufferPointer, now: Int64) -> Principal? {
        remembered(token, hash(token), now: now)
    }

    private func remembered(_ token: UnsafeRawBufferPointer, _ hash: UInt64, now: Int64) -> Principal? {
        guard let entry = tokens.value(for: hash), Self.isSame(entry.token, token) else { return nil }
        return stillHolds(entry, hash, now: now) ? entry.principal : nil
    }

    /// The principal of a token, from the cache or from a complete verification.
    package func principal(for token: UnsafeRawBufferPointer, now: Int64) -> Result<Principal, TokenFault> {
        let hash = hash(token)
        if let principal = remembered(token, hash, now: now) { return .success(principal) }
        // Read before the verification, so that changes in the meantime are noticed at the next hit.
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

    /// Removes all tokens.
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

    /// Stores a token, and replaces one with the same hash.
    private func store(
        _ token: UnsafeRawBufferPointer, _ hash: UInt64, _ principal: Principal, keys: UInt64, revocations: UInt64
    ) {
        let entry = Remembered(
            token: Array(token), principal: principal, keyGeneration: keys, revocationGeneration: revocations)
        tokens.insert(entry, for: hash, weight: entry.weight)
    }
}
