import StateSurface
import Synchronization

/// What this node remembers of sessions, so that a request need not wait for the store.
///
/// A yes may rest on it. A no may not: the store is asked before anybody is turned away. Memory is bounded; what was
/// not asked for lately goes first.
package final class SessionView: Sendable {
    /// What of a session decides whether a request may pass.
    ///
    /// A class: who is let in holds on to it, and takes no copy of what it says.
    final class Entry: Sendable {
        // What every request asks for lies together, in front.
        let state: StoredSessionState
        let tenantID: String?
        private let owner: PackedName?
        let idleTimeout: Milliseconds
        let absoluteExpiresAt: Milliseconds
        private let lastSeen: Atomic<Milliseconds>
        let epoch: Int64
        let id: String
        let userID: String?
        let familyID: String?
        let secretHash: [UInt8]

        init(_ record: SessionRecord) {
            self.id = record.id
            self.state = record.state
            self.tenantID = record.tenantID
            self.userID = record.userID
            self.owner = record.userID.map { PackedName($0) }
            self.epoch = record.epoch
            self.familyID = record.familyID
            self.secretHash = record.secretHash
            self.idleTimeout = record.idleTimeout
            self.absoluteExpiresAt = record.absoluteExpiresAt
            self.lastSeen = Atomic(record.lastSeenAt)
        }

        var lastSeenAt: Milliseconds {
            get { self.lastSeen.load(ordering: .relaxed) }
            set { self.lastSeen.store(newValue, ordering: .relaxed) }
        }

        /// Whether the session is this user's, compared byte for byte.
        func isOwned(by asked: SessionOwner) -> Bool {
            guard let tenantID, let owner else { return false }
            return tenantID.hasSameBytes(as: asked.tenantID) && owner == PackedName(asked.userID)
        }

        func isLive(at now: Milliseconds) -> Bool {
            let (idleEnd, overflow) = self.lastSeenAt.addingReportingOverflow(self.idleTimeout)
            return self.state.isLive && now < self.absoluteExpiresAt && (overflow || now < idleEnd)
        }
    }

    /// Taken before the store is read; what was read is only remembered if nothing was forgotten in between.
    struct Mark: Sendable {
        fileprivate let changes: UInt64
    }

    private static let shardCount = 64
    private let entries: [Shard<EntryShard>]
    private let secrets: [Shard<BoundedMemory<[UInt8], String>>]
    /// Counts what was forgotten because it may be untrue; raised under the lock of the shard concerned.
    private let changes = Atomic<UInt64>(0)

    /// Room for a million sessions in use at once, in some 600 MiB; a node that sees fewer takes no more than those need.
    package convenience init() {
        self.init(capacity: 2_097_152)
    }

    init(capacity: Int) {
        let perShard = max(4, capacity / Self.shardCount)
        self.entries = (0..<Self.shardCount).map { _ in Shard(EntryShard(capacity: perShard)) }
        self.secrets = (0..<Self.shardCount).map { _ in Shard(BoundedMemory(capacity: perShard)) }
    }

    // MARK: Asking

    func entry(id: String) -> Entry? {
        let key = PackedName(id)
        return self.shard(of: key).withLock { $0.memory[key] }
    }

    func entry(secretHash: [UInt8]) -> Entry? {
        guard let id = self.shard(of: secretHash).withLock({ $0[secretHash] }) else { return nil }
        guard let entry = self.entry(id: id), entry.secretHash == secretHash else { return nil }
        return entry
    }

    // MARK: Remembering

    func mark() -> Mark {
        Mark(changes: self.changes.load(ordering: .sequentiallyConsistent))
    }

    /// Remembers what the store said, unless the session was forgotten since `mark`: then it may be older than that.
    @discardableResult
    func remember(_ record: SessionRecord, readAfter mark: Mark) -> Bool {
        let entry = Entry(record)
        let key = PackedName(record.id)
        let remembered = self.shard(of: key).withLock { shard in
            guard !shard.forgotten.contains(record.id, after: mark.changes) else { return false }
            shard.memory[key] = entry
            return true
        }
        // The index needs no such care: what it leads to is compared with the secret it was asked for.
        if remembered { self.shard(of: record.secretHash).withLock { $0[record.secretHash] = record.id } }
        return remembered
    }

    /// Moves the last use of a remembered session forward.
    /// - Returns: whether the use is worth writing down: not when one was noted within `resolution`.
    func touch(id: String, at now: Milliseconds, resolution: Milliseconds) -> Bool {
        let key = PackedName(id)
        return self.shard(of: key).withLock { shard in
            guard let entry = shard.memory[key] else { return true }
            guard now.subtractingReportingOverflow(entry.lastSeenAt).partialValue >= resolution else { return false }
            entry.lastSeenAt = now
            return true
        }
    }

    // MARK: Forgetting

    func forget(id: String) {
        let key = PackedName(id)
        let old = self.shard(of: key).withLock { shard in
            shard.forgotten.append(id, change: self.nextChange())
            return shard.memory.remove(key)
        }
        if let old { self.shard(of: old.secretHash).withLock { _ = $0.remove(old.secretHash) } }
    }

    func forgetAll() {
        for shard in self.entries {
            shard.withLock { shard in
                shard.forgotten.appendEverything(change: self.nextChange())
                shard.memory.removeAll()
            }
        }
        for shard in self.secrets { shard.withLock { $0.removeAll() } }
    }

    private func nextChange() -> UInt64 {
        self.changes.add(1, ordering: .sequentiallyConsistent).newValue
    }

    var count: Int {
        self.entries.reduce(0) { sum, shard in sum + shard.withLock { $0.memory.count } }
    }

    private func shard(of key: PackedName) -> Shard<EntryShard> {
        self.entries[key.shard(of: Self.shardCount)]
    }

    private func shard(of secretHash: [UInt8]) -> Shard<BoundedMemory<[UInt8], String>> {
        self.secrets[Int(UInt(bitPattern: secretHash.hashValue) % UInt(Self.shardCount))]
    }
}

/// Entries, and which of them were forgotten lately.
private struct EntryShard: Sendable {
    var memory: BoundedMemory<PackedName, SessionView.Entry>
    var forgotten = Forgotten()

    init(capacity: Int) {
        self.memory = BoundedMemory(capacity: capacity)
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
