import Caching
import StateSurface
import Synchronization

/// What this node remembers of sessions, so that a request need not wait for the store.
///
/// A yes may rest on it. A no may not: the store is asked before anybody is turned away. Memory is bounded; what was
/// not asked for lately goes first.
package final class SessionView: Sendable {
    /// Taken before the store is read; what was read is only remembered if nothing was forgotten in between.
    package struct Mark: Sendable {
        fileprivate let changes: UInt64
    }

    /// A power of two. Each is small enough that it may stand still while its table grows.
    private static let shardCount = 64
    private let seed: NameSeed
    private let entries: [Shard<EntryShard>]
    private let secrets: [Shard<BoundedCache<[UInt8], String>>]
    /// Counts what was forgotten because it may be untrue; raised under the lock of the shard concerned.
    private let changes = Atomic<UInt64>(0)

    /// Room for two million sessions. One million take some 830 bytes each, the index of secrets included; fewer take no
    /// more than they need.
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

    func entry(id: String) -> Entry? {
        let key = SessionKey(id, seed: self.seed)
        return self.shard(of: key).withLock { shard in
            guard let slot = shard.table.use(key) else { return nil }
            return Entry(slot)
        }
    }

    /// Has a check look at a session where it lies: who is turned away costs no look anywhere else.
    func permit(id: String, _ check: (SessionSlot) -> Permit?) -> Permit? {
        let key = SessionKey(id, seed: self.seed)
        return self.shard(of: key).withLock { shard in
            guard let slot = shard.table.use(key) else { return nil }
            return check(slot)
        }
    }

    func entry(secretHash: [UInt8]) -> Entry? {
        guard let id = self.shard(of: secretHash).withLock({ $0.value(for: secretHash) }) else { return nil }
        guard let entry = self.entry(id: id), entry.facts.secretHash == secretHash else { return nil }
        return entry
    }

    // MARK: Remembering

    package func mark() -> Mark {
        Mark(changes: self.changes.load(ordering: .sequentiallyConsistent))
    }

    /// Remembers what the store said, unless the session was forgotten since `mark`: then it may be older than that.
    @discardableResult
    package func remember(_ record: SessionRecord, readAfter mark: Mark) -> Bool {
        let entry = Entry(record)
        let key = SessionKey(record.id, seed: self.seed)
        // What has to go for it goes here, when the lock is free again.
        let (isRemembered, _) = self.shard(of: key).withLock { shard -> (Bool, SessionFacts?) in
            guard !shard.forgotten.contains(record.id, after: mark.changes) else { return (false, nil) }
            return (true, shard.table.insert(entry, as: key))
        }
        // The index needs no such care: what it leads to is compared with the secret it was asked for.
        if isRemembered { self.shard(of: record.secretHash).withLock { $0.insert(record.id, for: record.secretHash) } }
        return isRemembered
    }

    /// Moves the last use of a remembered session forward.
    /// - Returns: whether the use is worth writing down: not when one was noted within `resolution`.
    func touch(id: String, at now: Milliseconds, resolution: Milliseconds) -> Bool {
        let key = SessionKey(id, seed: self.seed)
        return self.shard(of: key).withLock { $0.table.touch(key, at: now, resolution: resolution) }
    }

    // MARK: Forgetting

    func forget(id: String) {
        let key = SessionKey(id, seed: self.seed)
        let old = self.shard(of: key).withLock { shard in
            shard.forgotten.append(id, change: self.nextChange())
            return shard.table.remove(key)
        }
        if let old { self.shard(of: old.secretHash).withLock { _ = $0.remove(old.secretHash) } }
    }

    func forgetAll() {
        for shard in self.entries {
            // All that was there goes here, when the lock is free again.
            _ = shard.withLock { shard in
                shard.forgotten.appendEverything(change: self.nextChange())
                return shard.table.removeAll()
            }
        }
        for shard in self.secrets { shard.withLock { $0.removeAll() } }
    }

    private func nextChange() -> UInt64 {
        self.changes.add(1, ordering: .sequentiallyConsistent).newValue
    }

    var count: Int {
        self.entries.reduce(0) { sum, shard in sum + shard.withLock { $0.table.count } }
    }

    private func shard(of key: SessionKey) -> Shard<EntryShard> {
        // Bits that the table does not look at.
        self.entries[Int(truncatingIfNeeded: key.hash >> 48) & (Self.shardCount - 1)]
    }

    private func shard(of secretHash: [UInt8]) -> Shard<BoundedCache<[UInt8], String>> {
        self.secrets[Int(UInt(bitPattern: secretHash.hashValue) % UInt(Self.shardCount))]
    }
}

/// Entries, and which of them were forgotten lately.
private struct EntryShard: Sendable {
    var table: SessionTable
    var forgotten = Forgotten()

    init(capacity: Int, seed: NameSeed) {
        self.table = SessionTable(capacity: capacity, seed: seed)
    }
}

/// The last sessions that were forgotten, so that a slow answer of the store can't bring one of them back.
private struct Forgotten: Sendable {
    private static let capacity = 128
    private var recent: [(change: UInt64, id: String)] = []
    /// Up to this change it is no longer known which sessions they were: it may have been any.
    private var floor: UInt64 = 0

    mutating func append(_ id: String, change: UInt64) {
        if self.recent.count >= Self.capacity {
            let dropped = self.recent.prefix(Self.capacity / 2)
            self.floor = dropped.last?.change ?? self.floor
            self.recent.removeFirst(dropped.count)
        }
        self.recent.append((change, id))
    }

    mutating func appendEverything(change: UInt64) {
        self.recent = []
        self.floor = change
    }

    func contains(_ id: String, after change: UInt64) -> Bool {
        guard change >= self.floor else { return true }
        return self.recent.contains { $0.change > change && $0.id == id }
    }
}

/// One lock and what lies behind it.
private final class Shard<State: Sendable>: Sendable {
    private let state: Mutex<State>

    init(_ initial: State) {
        self.state = Mutex(initial)
    }

    func withLock<R: Sendable>(_ body: (inout State) -> R) -> R {
        self.state.withLock { state in body(&state) }
    }
}
