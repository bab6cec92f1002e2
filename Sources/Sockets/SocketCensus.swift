import Synchronization

/// How many sockets each session and each user holds on this node.
///
/// Used once per upgrade, never per message.
package final class SocketCensus: Sendable {
    private struct Counts {
        var bySession: [String: Int] = [:]
        var byUser: [String: Int] = [:]
    }

    private let counts = Mutex(Counts())
    private let perSession: Int
    private let perUser: Int

    /// Creates an empty census with these limits; `Int.max` means no limit.
    package init(perSession: Int, perUser: Int) {
        self.perSession = perSession
        self.perUser = perUser
    }

    /// Takes a place for one more socket; false when a limit is reached. A nil session or user is not counted.
    func enter(session: String?, user: String?) -> Bool {
        counts.withLock { counts in
            let ofSession = session.map { counts.bySession[$0, default: 0] } ?? 0
            let ofUser = user.map { counts.byUser[$0, default: 0] } ?? 0
            guard ofSession < perSession, ofUser < perUser else { return false }
            if let session { counts.bySession[session] = ofSession + 1 }
            if let user { counts.byUser[user] = ofUser + 1 }
            return true
        }
    }

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
