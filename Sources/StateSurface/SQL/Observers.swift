import Synchronization

/// The observers of changes.
final class Observers: Sendable {
    private struct Table {
        var nextID: UInt64 = 0
        var callbacks: [(id: UInt64, call: @Sendable (Change) -> Void)] = []
    }

    private let table = Mutex(Table())
    /// Serialises the reports of all threads.
    private let telling = Mutex(())

    /// Calls `observer` for each change from now on, until the subscription is cancelled. It is called on the thread
    /// that commits or reads the feed, and must not block or write to the store.
    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        let id = table.withLock { table in
            table.nextID += 1
            table.callbacks.append((table.nextID, observer))
            return table.nextID
        }
        return Subscription { [weak self] in
            self?.table.withLock { $0.callbacks.removeAll { $0.id == id } }
        }
    }

    /// Reports changes in their order, to one observer after the other. Reports of several threads do not overlap.
    func notify(_ changes: [Change]) {
        guard !changes.isEmpty else { return }
        telling.withLock { _ in
            for change in changes {
                for callback in table.withLock({ $0.callbacks }) { callback.call(change) }
            }
        }
    }
}
