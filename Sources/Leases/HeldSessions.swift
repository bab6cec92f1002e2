import Synchronization

/// The sessions that any event loop holds a lease of, so that a change of any other session wakes no loop.
///
/// A lease is noted here before it is verified, and a change is told here after memory has forgotten the session: so
/// either the change finds the lease, or the verification finds the change.
package final class HeldSessions: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    package init() {}

    package func add(_ sessionID: String) {
        counts.withLock { $0[sessionID, default: 0] += 1 }
    }

    package func remove(_ sessionID: String) {
        counts.withLock { counts in
            guard let count = counts[sessionID] else { return }
            counts[sessionID] = count > 1 ? count - 1 : nil
        }
    }

    package func contains(_ sessionID: String) -> Bool {
        counts.withLock { $0[sessionID] != nil }
    }
}
