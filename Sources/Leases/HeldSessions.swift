import Synchronization

/// The sessions with a lease on any event loop, so that changes of other sessions need not be sent to the loops; in the
/// same way the accounts that leases depend on.
///
/// A lease is added before it is verified, and a change is looked up here after the session was removed from memory.
/// Therefore either the change finds the lease, or the verification notices the change.
package final class HeldSessions: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// A set without leases.
    package init() {}

    /// Adds a lease of a session.
    package func add(_ sessionID: String) {
        counts.withLock { $0[sessionID, default: 0] += 1 }
    }

    /// Removes a lease of a session.
    package func remove(_ sessionID: String) {
        counts.withLock { counts in
            guard let count = counts[sessionID] else { return }
            counts[sessionID] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether any loop has a lease of the session.
    package func contains(_ sessionID: String) -> Bool {
        counts.withLock { $0[sessionID] != nil }
    }
}
