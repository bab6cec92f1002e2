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
            let ofSession = session.map { counts.bySession[$0, default: 0] } ?? 0
            let ofUser = user.map { counts.byUser[$0, default: 0] } ?? 0
            guard ofSession < counts.perSession, ofUser < counts.perUser else { return false }
            if let session { counts.bySession[session] = ofSession + 1 }
            if let user { counts.byUser[user] = ofUser + 1 }
            return true
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
        guard let key, let count = table[key] else { return }
        table[key] = count > 1 ? count - 1 : nil
    }
}
