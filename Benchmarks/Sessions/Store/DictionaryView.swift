import Caching
import Runtime
import StateSurface
import Synchronization

/// What `SessionView` does, with a dictionary of strings in place of its table of slots: the same shards, locks and
/// index of secrets. For comparison alone.
final class DictionaryView: Sendable {
    /// What was read of a session.
    final class Facts: Sendable {
        let isAuthenticated: Bool
        let id: String
        let tenantID: String?
        let userID: String?
        let epoch: Int64
        let familyID: String?
        let absoluteExpiresAt: Int64
        let secretHash: [UInt8]

        init(_ record: SessionRecord) {
            isAuthenticated = record.state == .authenticated
            id = record.id
            tenantID = record.tenantID
            userID = record.userID
            epoch = record.epoch
            familyID = record.familyID
            absoluteExpiresAt = record.absoluteExpiresAt
            secretHash = record.secretHash
        }
    }

    private struct Entry: Sendable {
        let facts: Facts
        var lastSeenAt: Int64
        let idleTimeout: Int64
        /// When it was last asked for, for a policy of what goes first.
        var usedIn: UInt32
    }

    private final class Shard: Sendable {
        let entries = Mutex<[String: Entry]>([:])
        let secrets = Mutex(BoundedCache<[UInt8], String>(capacity: 32_768))
    }

    private static let shardCount = 64
    private let shards = (0..<DictionaryView.shardCount).map { _ in Shard() }

    func remember(_ record: SessionRecord) {
        let entry = Entry(
            facts: Facts(record), lastSeenAt: record.lastSeenAt, idleTimeout: record.idleTimeout, usedIn: 0)
        shard(of: record.id).entries.withLock { $0[record.id] = entry }
        shard(of: record.secretHash).secrets.withLock { $0.insert(record.id, for: record.secretHash) }
    }

    /// What was read of a session, if it is live, authenticated and this user's.
    func admit(sessionID: String, tenantID: String, userID: String, now: Int64) -> Facts? {
        shard(of: sessionID).entries.withLock { entries -> Facts? in
            guard let entry = entries[sessionID], entry.facts.isAuthenticated, now < entry.facts.absoluteExpiresAt,
                now < entry.lastSeenAt + entry.idleTimeout,
                let user = entry.facts.userID, user.utf8.elementsEqual(userID.utf8),
                let tenant = entry.facts.tenantID, tenant.utf8.elementsEqual(tenantID.utf8)
            else { return nil }
            return entry.facts
        }
    }

    private func shard(of key: some Hashable) -> Shard {
        shards[Int(UInt(bitPattern: key.hashValue) % UInt(Self.shardCount))]
    }
}
