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
    private struct Slot {
        var hash: UInt64
        var token: [UInt8]
        var principal: Principal
        /// The generations at which the entry was last compared with keys and revocations.
        var keyGeneration: UInt64
        var revocationGeneration: UInt64
        /// Used since the hand passed last.
        var isRecent: Bool
    }

    private let securityGuard: SecurityGuard
    private let capacity: Int
    private let byteLimit: Int
    private let skew: Int64
    /// Random per process, so that nobody outside can aim at a place in the table.
    private let seed: UInt64
    private var places: [UInt64: Int] = [:]
    private var slots: [Slot] = []
    private var bytes = 0
    private var hand = 0

    package init(_ securityGuard: SecurityGuard, capacity: Int = 8192, byteLimit: Int = 8 << 20) {
        self.securityGuard = securityGuard
        self.capacity = max(1, capacity)
        self.byteLimit = byteLimit
        skew = securityGuard.policy.clockSkew
        seed = SecureRandom.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package var count: Int { slots.count }

    /// Who the token speaks for, if it was verified before and nothing has changed that; nil says nothing.
    package func remembered(_ token: UnsafeRawBufferPointer, now: Int64) -> Principal? {
        remembered(token, hash(token), now: now)
    }

    private func remembered(_ token: UnsafeRawBufferPointer, _ hash: UInt64, now: Int64) -> Principal? {
        guard let place = places[hash], holds(token, at: place), stillHolds(place, now: now) else { return nil }
        return slots[place].principal
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
        } else if let place = places[hash], holds(token, at: place) {
            remove(place)
        }
        return verdict
    }

    package func principal(for token: some Collection<UInt8>, now: Int64) -> Result<Principal, TokenFault> {
        let verdict = token.withContiguousStorageIfAvailable { principal(for: UnsafeRawBufferPointer($0), now: now) }
        return verdict ?? Array(token).withUnsafeBytes { principal(for: $0, now: now) }
    }

    package func removeAll() {
        places.removeAll()
        slots.removeAll()
        bytes = 0
        hand = 0
    }

    private func stillHolds(_ place: Int, now: Int64) -> Bool {
        let principal = slots[place].principal
        guard principal.isCurrent(at: now, skew: skew) else { return false }
        let keys = securityGuard.keyGeneration
        if slots[place].keyGeneration != keys {
            guard securityGuard.keyRing.verifies(thumbprint: principal.keyThumbprint) else { return false }
            slots[place].keyGeneration = keys
        }
        let revocations = securityGuard.revocationCount
        if slots[place].revocationGeneration != revocations {
            guard !securityGuard.isRevoked(principal) else { return false }
            slots[place].revocationGeneration = revocations
        }
        slots[place].isRecent = true
        return true
    }

    private func holds(_ token: UnsafeRawBufferPointer, at place: Int) -> Bool {
        slots[place].token.withUnsafeBytes { own in
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

    // MARK: Room

    private func store(
        _ token: UnsafeRawBufferPointer, _ hash: UInt64, _ principal: Principal, keys: UInt64, revocations: UInt64
    ) {
        // A loop that judges a token while it is already there, or another one of the same hash: the newer stays.
        if let place = places[hash] { remove(place) }
        guard token.count <= byteLimit else { return }
        while !slots.isEmpty, slots.count >= capacity || bytes + token.count > byteLimit { evictOne() }
        places[hash] = slots.count
        slots.append(
            Slot(
                hash: hash, token: Array(token), principal: principal, keyGeneration: keys,
                revocationGeneration: revocations, isRecent: false))
        bytes += token.count
    }

    /// Second chance: the hand skips, once, what was used since it last came by.
    private func evictOne() {
        for _ in 0..<slots.count {
            if hand >= slots.count { hand = 0 }
            if !slots[hand].isRecent { break }
            slots[hand].isRecent = false
            hand += 1
        }
        if hand >= slots.count { hand = 0 }
        remove(hand)
    }

    /// Fills the gap with the last slot.
    private func remove(_ place: Int) {
        let gone = slots[place]
        places[gone.hash] = nil
        bytes -= gone.token.count
        let last = slots.removeLast()
        if place < slots.count {
            slots[place] = last
            places[last.hash] = place
        }
    }
}
