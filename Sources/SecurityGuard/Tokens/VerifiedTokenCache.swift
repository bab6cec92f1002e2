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
        /// When it can no longer be used without asking again, in Unix milliseconds; `.max` for a signed token.
        var until = Int64.max
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

    /// What the cache has been asked so far.
    package private(set) var tally = TokenTally()

    /// The number of tokens in the cache.
    package var count: Int { tokens.count }

    /// The principal of a token that is in the cache and still valid, and for this resource (nil for the gateway's own
    /// audience); otherwise nil, which does not mean that the token is invalid.
    package func remembered(
        _ token: UnsafeRawBufferPointer, now: Int64, resource: String? = nil
    ) -> Principal? {
        guard let principal = remembered(token, hash(token), now: now), principal.isFor(resource: resource) else {
            return nil
        }
        return principal
    }

    /// The same, for the bytes of an array.
    package func remembered(_ token: [UInt8], now: Int64, resource: String?) -> Principal? {
        token.withUnsafeBytes { remembered($0, now: now, resource: resource) }
    }

    /// Keeps the principal of a personal access token, which the store has just confirmed. After a minute, the store is
    /// asked again.
    package func keep(personalToken token: [UInt8], _ principal: Principal, now: Int64) {
        let entry = Remembered(
            token: token, principal: principal, until: now &+ Self.personalTokenMemory,
            keyGeneration: securityGuard.keyGeneration, revocationGeneration: 0)
        token.withUnsafeBytes { tokens.insert(entry, for: hash($0), weight: entry.weight) }
    }

    /// Less than revocations are kept, so that no entry outlives the revocation that ends it. In milliseconds.
    private static let personalTokenMemory: Int64 = 60_000

    private func remembered(_ token: UnsafeRawBufferPointer, _ hash: UInt64, now: Int64) -> Principal? {
        guard let entry = tokens.value(for: hash), Self.isSame(entry.token, token),
            stillHolds(entry, hash, now: now)
        else { return nil }
        tally.hits &+= 1
        return entry.principal
    }

    /// The principal of a token, from the cache or from a complete verification.
    /// - Parameter resource: the resource that the token must be for; nil for the gateway's own audience.
    package func principal(
        for token: UnsafeRawBufferPointer, now: Int64, resource: String? = nil
    ) -> Result<Principal, TokenFault> {
        verdict(on: token, now: now).flatMap { SecurityGuard.require($0, resource: resource) }
    }

    private func verdict(on token: UnsafeRawBufferPointer, now: Int64) -> Result<Principal, TokenFault> {
        let hash = hash(token)
        if let principal = remembered(token, hash, now: now) { return .success(principal) }
        // Read before the verification, so that changes in the meantime are noticed at the next hit.
        let keys = securityGuard.keyGeneration
        let revocations = securityGuard.revocationCount
        let verdict = securityGuard.judge(token: token, now: now)
        tally.count(verdict)
        if case .success(let principal) = verdict {
            store(token, hash, principal, keys: keys, revocations: revocations)
        } else if let entry = tokens.value(for: hash), Self.isSame(entry.token, token) {
            tokens.remove(hash)
        }
        return verdict
    }

    package func principal(
        for token: some Collection<UInt8>, now: Int64, resource: String? = nil
    ) -> Result<Principal, TokenFault> {
        let verdict = token.withContiguousStorageIfAvailable {
            principal(for: UnsafeRawBufferPointer($0), now: now, resource: resource)
        }
        return verdict ?? Array(token).withUnsafeBytes { principal(for: $0, now: now, resource: resource) }
    }

    /// Removes all tokens.
    package func removeAll() { tokens.removeAll() }

    private func stillHolds(_ entry: Remembered, _ hash: UInt64, now: Int64) -> Bool {
        let principal = entry.principal
        guard principal.isCurrent(at: now, skew: skew), now < entry.until else { return false }
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

    /// The hash of the token's end, which is a part of its signature: no two tokens that were verified have the same.
    /// Others can be made that end alike, but those are not kept, and they differ from the one that is kept.
    private func hash(_ token: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(seed)
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: token.suffix(Self.hashedBytes)))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private static let hashedBytes = 48

    /// Stores a token, and replaces one with the same hash.
    private func store(
        _ token: UnsafeRawBufferPointer, _ hash: UInt64, _ principal: Principal, keys: UInt64, revocations: UInt64
    ) {
        let entry = Remembered(
            token: Array(token), principal: principal, keyGeneration: keys, revocationGeneration: revocations)
        tokens.insert(entry, for: hash, weight: entry.weight)
    }
}
