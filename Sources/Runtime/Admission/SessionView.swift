import Caching
import StateSurface
import Synchronization

/// The sessions in this node's memory, so that requests need not wait for the store.
///
/// Access may be granted from it, but not refused: the store is asked first. It is bounded; sessions that were not used
/// recently are dropped first.
package final class SessionView: Sendable {
    /// A mark taken before the store is read. The session is kept in memory only if it was not invalidated since.
    package struct Mark: Sendable {
        fileprivate let changes: UInt64
    }

    /// The number of shards, a power of two. Each is small enough to be locked while its table grows.
    private static let shardCount = 64
    private let seed: NameSeed
    private let entries: [Shard<EntryShard>]
    private let secrets: [Shard<BoundedCache<[UInt8], String>>]
    /// Counts invalidated sessions. Increased under the lock of the shard.
    private let changes = Atomic<UInt64>(0)

    /// A view with room for two million sessions. With one million, each takes about 830 bytes, including the index of
    /// secrets; memory is allocated as needed.
    package convenience init() {
        self.init(capacity: 2_097_152)
    }

    init(capacity: Int) {
        let perShard = max(4, capacity / Self.shardCount)
        let seed = NameSeed()
        self.seed = seed
        self.entries = (0..<Self.shardCount).map { _ in Shard(EntryShard(capacity: perShard, seed: seed)) }
        self.secrets = (0..<Self.shardCount).map { _ in Shard(BoundedCache(capacity: perShard)) }
    }

    // MARK: Asking

    /// The session with this id, which counts as used; nil if it is not in memory. It may have expired: callers compare
    /// it with the clock.
    func entry(id: String) -> Entry? {
        let key = SessionKey(id, seed: seed)
        return self.shard(of: key).withLock { shard in
            guard let slot = shard.table.use(key) else { return nil }
            return Entry(slot)
        }
    }

    /// Runs a check on a session's slot, so that a refusal accesses no other memory.
    ///
    /// - Returns: nil if the session is not in memory or the check refuses. Neither is a reason to refuse a request:
    ///   the store is asked.
    func permit(id: String, _ check: (SessionSlot) -> Permit?) -> Permit? {
        let key = SessionKey(id, seed: seed)
        return self.shard(of: key).withLock { shard in
            guard let slot = shard.table.use(key) else { return nil }
            return check(slot)
        }
    }

    /// The session whose current secret has this SHA-256; nil if it is not in memory. The index of secrets may be
    /// outdated, so the session's own hash is compared.
    func entry(secretHash: [UInt8]) -> Entry? {
        guard let id = shard(of: secretHash).withLock({ $0.value(for: secretHash) }) else { return nil }
        guard let entry = entry(id: id), entry.facts.secretHash == secretHash else { return nil }
        return entry
    }

    // MARK: Loading

    /// A mark to take before reading a session from the store.
    package func mark() -> Mark {
        Mark(changes: changes.load(ordering: .sequentiallyConsistent))
    }

    /// Keeps a session that was read from the store, unless it was invalidated since `mark`, as it may then be
    /// outdated.
    @discardableResult
    package func remember(_ record: SessionRecord, readAfter mark: Mark) -> Bool {
        let entry = Entry(record)
        let key = SessionKey(record.id, seed: seed)
        // The replaced session is released here, outside the lock.
        let (isRemembered, _) = self.shard(of: key).withLock { shard -> (Bool, SessionFacts?) in
            guard !shard.forgotten.contains(record.id, after: mark.changes) else { return (false, nil) }
            return (true, shard.table.insert(entry, as: key))
        }
        // The index may be outdated, because the session found by it is compared with the secret.
        if isRemembered { self.shard(of: record.secretHash).withLock { $0.insert(record.id, for: record.secretHash) } }
        return isRemembered
    }

    /// Records a use of a session in memory.
    /// - Returns: whether the use must be written to the store: not if one was recorded within `resolution`.
    func touch(id: String, at now: Milliseconds, resolution: Milliseconds) -> Bool {
        let key = SessionKey(id, seed: seed)
        return shard(of: key).withLock { $0.table.touch(key, at: now, resolution: resolution) }
    }

    // MARK: Invalidation

    /// Drops a session, and makes every ``Mark`` that was taken before unusable for it. Called for each change that the
    /// store's feed reports, before the notices of it.
    func forget(id: String) {
        let key = SessionKey(id, seed: seed)
        let old = self.shard(of: key).withLock { shard in
            shard.forgotten.append(id, change: self.nextChange())
            return shard.table.remove(key)
        }
        if let old { self.shard(of: old.secretHash).withLock { _ = $0.remove(old.secretHash) } }
    }

    /// Drops all sessions, when changes may have been missed. No mark that was taken before can be used afterwards.
    func forgetAll() {
        for shard in entries {
            // The old sessions are released here, outside the lock.
            _ = shard.withLock { shard in
                shard.forgotten.appendEverything(change: self.nextChange())
                return shard.table.removeAll()
            }
        }
        for shard in secrets { shard.withLock { $0.removeAll() } }
    }

    private func nextChange() -> UInt64 {
        changes.add(1, ordering: .sequentiallyConsistent).newValue
    }

    /// The number of sessions in memory. The shards are counted one after the other.
    var count: Int {
        entries.reduce(0) { sum, shard in sum + shard.withLock { $0.table.count } }
    }

    private func shard(of key: SessionKey) -> Shard<EntryShard> {
        // Bits that the table does not use.
        entries[Int(truncatingIfNeeded: key.hash >> 48) & (Self.shardCount - 1)]
    }

    private func shard(of secretHash: [UInt8]) -> Shard<BoundedCache<[UInt8], String>> {
        secrets[Int(UInt(bitPattern: secretHash.hashValue) % UInt(Self.shardCount))]
    }
}

/// Sessions, and which of them were recently invalidated.
private struct EntryShard: Sendable {
    var table: SessionTable
    var forgotten = Forgotten()

    init(capacity: Int, seed: NameSeed) {
        self.table = SessionTable(capacity: capacity, seed: seed)
    }
}

/// The sessions that were last invalidated, so that a slow answer of the store does not bring an outdated one back.
private struct Forgotten: Sendable {
    private static let capacity = 128
    private var recent: [(change: UInt64, id: String)] = []
    /// Up to this change, the sessions are no longer known, so it may have been any.
    private var floor: UInt64 = 0

    mutating func append(_ id: String, change: UInt64) {
        if recent.count >= Self.capacity {
            let dropped = recent.prefix(Self.capacity / 2)
            floor = dropped.last?.change ?? floor
            recent.removeFirst(dropped.count)
        }
        recent.append((change, id))
    }

    mutating func appendEverything(change: UInt64) {
        recent = []
        floor = change
    }

    func contains(_ id: String, after change: UInt64) -> Bool {
        guard change >= floor else { return true }
        return recent.contains { $0.change > change && $0.id == id }
    }
}

/// A lock and the state that it guards.
private final class Shard<State: Sendable>: Sendable {
    private let state: Mutex<State>

    init(_ initial: State) {
        self.state = Mutex(initial)
    }

    func withLock<R: Sendable>(_ body: (inout State) -> R) -> R {
        state.withLock { state in body(&state) }
    }
}
