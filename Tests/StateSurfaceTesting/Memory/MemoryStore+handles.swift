import StateSurface
import Synchronization

/// What tests do with a store besides calling its roles. It works while the store is unreachable, too.
extension MemoryStore {
    /// A place in a call at which a test can hold it up.
    package enum Moment: Sendable {
        /// A session was read by its id and is about to be returned, or is about to be changed.
        case sessionRead
        /// Accounts were read by their ids and are about to be returned.
        case accountsRead
        /// A refresh token is about to be replaced by its successor.
        case beforeRotation
        /// The uses of sessions are about to be written.
        case beforeTouch
    }

    /// What is waited for at a ``Moment``.
    package typealias Pause = @Sendable () async -> Void

    /// Has every call that comes to this moment wait for `pause` from now on; for nothing with nil.
    package func pause(at moment: Moment, _ pause: Pause?) {
        state.withLock { $0.pauses[moment] = pause }
    }

    /// Waits for what a test has set for this moment.
    func reached(_ moment: Moment) async {
        if let pause = state.withLock({ $0.pauses[moment] }) { await pause() }
    }

    /// Lets the calls of all roles fail from now on, as those of a database that is away, or succeed again.
    package func set(reachable: Bool) {
        state.withLock { $0.isReachable = reachable }
    }

    /// Tells the observers a change that was not made here, such as one of another node, or a gap in the feed.
    package func tell(_ change: Change) {
        state.withLock { $0.tables.changes.append(change) }
        tellChanges()
    }

    // MARK: What is stored

    /// The session as it is stored.
    package func stored(_ sessionID: String) -> SessionRecord? {
        state.withLock { $0.tables.sessions[sessionID] }
    }

    /// How many sessions are stored.
    package var sessionCount: Int { state.withLock { $0.tables.sessions.count } }

    /// How often uses of sessions were written.
    package var touches: Int { state.withLock { $0.tables.touches } }

    /// How often accounts were read by their ids, one or several at once.
    package var accountReads: Int { state.withLock { $0.tables.accountReads } }

    /// How often nodes have said that they are alive.
    package var beats: Int { state.withLock { $0.tables.beats } }

    // MARK: Behind the roles

    /// Adds a revocation without telling it, as one of another node while the feed is interrupted.
    package func revokeSilently(_ revocation: Revocation) {
        state.withLock { $0.tables.revocations[RevocationKey(revocation)] = revocation }
    }

    /// Drops the outcome of an execution, as a database does when a session has too many.
    package func dropOutcome(sessionID: String, intentID: String) {
        state.withLock { $0.tables.executions[sessionID]?[intentID]?.outcome = nil }
    }

    /// Removes the executions of a session, as the end of its tombstone does.
    package func removeExecutions(of sessionID: String) {
        state.withLock { $0.tables.executions[sessionID] = nil }
    }

    /// Removes the events of a session before this number, as a database does when there are too many.
    package func forgetEvents(sessionID: String, before first: Int64) {
        state.withLock { $0.tables.events[sessionID]?.removeAll { $0.seq < first } }
    }
}
