import StateSurface
import Synchronization

/// A store in memory, for tests: the roles that the Runtime and SecurityGuard use. It passes the conformance rules of
/// these roles, as the databases do.
///
/// One object is one store: the nodes of a test share it, and what is stored is gone with it. Besides the roles it has
/// handles with which a test makes it fail, holds up its calls and looks at what is stored: `MemoryStore+handles.swift`.
/// Each further file has one role: the operations on the tables, which are synchronous, and the role that calls them.
///
/// What other roles add to these is not here: the grants of a session do not end with it, for one. Nor are events
/// dropped when a session has many; a test that is about that calls a handle.
package final class MemoryStore: Sendable {
    struct State: Sendable {
        var tables = MemoryTables()
        var isReachable = true
        var pauses: [Moment: Pause] = [:]
        var observers: [(id: Int, call: @Sendable (Change) -> Void)] = []
        var lastObserver = 0

        func requireReachable() throws {
            if !isReachable { throw StateSurfaceError(.unavailable, "the test has made the store unreachable") }
        }

        /// Takes the oldest change that was not told yet, for those who observe now; nil if all were told.
        mutating func takeChange() -> (change: Change, observers: [@Sendable (Change) -> Void])? {
            guard !tables.changes.isEmpty else { return nil }
            return (tables.changes.removeFirst(), observers.map { $0.call })
        }
    }

    let state = Mutex(State())
    /// Held while observers are called, so that changes are told in the order in which they were made, by whichever
    /// thread.
    private let telling = Mutex(())

    package init() {}

    /// Reads from the tables, unless the store is unreachable.
    func read<Value: Sendable>(_ body: (MemoryTables) throws -> Value) throws -> Value {
        try state.withLock { state in
            try state.requireReachable()
            return try body(state.tables)
        }
    }

    /// Changes the tables, unless the store is unreachable, and tells the observers before it returns.
    ///
    /// - Parameter body: it is not undone, so it must check everything before it changes anything.
    func write<Value: Sendable>(_ body: (inout MemoryTables) throws -> Value) throws -> Value {
        let value: Value = try state.withLock { state in
            try state.requireReachable()
            return try body(&state.tables)
        }
        tellChanges()
        return value
    }

    /// Tells all changes that were not told yet. Afterwards the caller's own have been told, perhaps by another thread.
    func tellChanges() {
        telling.withLock { _ in
            while let (change, observers) = state.withLock({ $0.takeChange() }) {
                for observer in observers { observer(change) }
            }
        }
    }
}

// MARK: The feed
extension MemoryStore: ChangeFeed {
    /// As of the databases, an observer must not write to the store.
    package func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        let id = state.withLock { state in
            state.lastObserver += 1
            state.observers.append((state.lastObserver, observer))
            return state.lastObserver
        }
        return Subscription { [weak self] in
            self?.state.withLock { $0.observers.removeAll { $0.id == id } }
        }
    }

    package func sinceLastBeat() -> Duration { .zero }
    package func feedIsLost() -> Bool { false }
}
