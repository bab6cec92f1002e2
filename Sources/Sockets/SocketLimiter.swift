import Synchronization

/// How many sockets each session and each user holds on this node.
///
/// Used once per upgrade, never per message. Safe from any thread; all event loops of the node share it. A reload keeps
/// it, so that it goes on counting.
package final class SocketLimiter: Sendable {
    private struct Counts {
        var bySession: [String: Int] = [:]
        var byUser: [String: Int] = [:]
        var perSession: Int
        var perUser: Int
    }

    private let counts: Mutex<Counts>

    /// Creates an empty limiter with these limits; `Int.max` means no limit. See `limits.sockets_per_session` and
    /// `limits.sockets_per_user`.
    package init(perSession: Int, perUser: Int) {
        counts = Mutex(Counts(perSession: perSession, perUser: perUser))
    }

    /// Changes the limits. Sockets that are open stay open.
    package func limit(perSession: Int, perUser: Int) {
        counts.withLock { counts in
            counts.perSession = perSession
            counts.perUser = perUser
        }
    }

    /// Takes a place for one more socket; false when a limit is reached. A nil session or user is not counted. Both are
    /// counted, or none. Every place that was taken is given back with ``leave(session:user:)``.
    func enter(session: String?, user: String?) -> Bool {
        counts.withLock { counts in
            guard Self.increment(session, in: &counts.bySession, below: counts.perSession) else { return false }
            if Self.increment(user, in: &counts.byUser, below: counts.perUser) { return true }
            Self.decrement(session, in: &counts.bySession)
            return false
        }
    }

    /// How many sockets each of these sessions holds. Sessions without any are left out.
    package func sockets(of sessionIDs: [String]) -> [String: Int] {
        counts.withLock { counts in
            sessionIDs.reduce(into: [:]) { found, id in found[id] = counts.bySession[id] }
        }
    }

    /// Gives back one place of this session and of this user. Must be called with what ``enter(session:user:)`` was
    /// given.
    func leave(session: String?, user: String?) {
        counts.withLock { counts in
            Self.decrement(session, in: &counts.bySession)
            Self.decrement(user, in: &counts.byUser)
        }
    }

    private static func decrement(_ key: String?, in table: inout [String: Int]) {
        guard let key, let place = table.index(forKey: key) else { return }
        if table.values[place] > 1 { table.values[place] -= 1 } else { table.remove(at: place) }
    }

    /// Counts one more where the limit allows it. One look at the table: an upgrade makes two of them under the lock.
    ///
    /// - Parameter limit: 1 or more, so that every name in the table has a place.
    private static func increment(_ key: String?, in table: inout [String: Int], below limit: Int) -> Bool {
        guard let key else { return true }
        func raise(_ count: inout Int) -> Bool {
            guard count < limit else { return false }
            count += 1
            return true
        }
        return raise(&table[key, default: 0])
    }
}
