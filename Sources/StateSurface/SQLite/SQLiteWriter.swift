import GRDB
import Synchronization

/// Group commit: while one transaction is being made durable, the writes that arrive gather for the next.
///
/// Each write is a savepoint of its batch: one that fails fails alone. Nobody is told of success before the commit.
final class SQLiteWriter: Sendable {
    private struct Pending: Sendable {
        /// Runs the write; returns how to report success once it is durable.
        let run: @Sendable (SQLiteTransaction) throws -> @Sendable () -> Void
        let fail: @Sendable (StateSurfaceError) -> Void
    }

    private struct Queue {
        var waiting: [Pending] = []
        var isDraining = false
    }

    private let pool: DatabasePool
    private let origin: String
    private let observers: Observers
    private let group: Int
    private let queue = Mutex(Queue())

    /// - Parameter group: how many writes may share a commit.
    init(pool: DatabasePool, origin: String, observers: Observers, group: Int) {
        self.pool = pool
        self.origin = origin
        self.observers = observers
        self.group = max(1, group)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let pending = Pending(
                run: { transaction in
                    let value = try body(transaction)
                    return { continuation.resume(returning: value) }
                },
                fail: { continuation.resume(throwing: $0) })
            let mustStart = queue.withLock { queue in
                queue.waiting.append(pending)
                defer { queue.isDraining = true }
                return !queue.isDraining
            }
            if mustStart {
                pool.asyncWriteWithoutTransaction { database in self.drain(database) }
            }
        }
    }

    private func drain(_ database: Database) {
        while let batch = nextBatch() { commit(batch, on: database) }
    }

    private func nextBatch() -> [Pending]? {
        queue.withLock { queue in
            guard !queue.waiting.isEmpty else {
                queue.isDraining = false
                return nil
            }
            let batch = Array(queue.waiting.prefix(group))
            queue.waiting.removeFirst(batch.count)
            return batch
        }
    }

    private func commit(_ batch: [Pending], on database: Database) {
        var reports: [@Sendable () -> Void] = []
        var changes: [Change] = []
        do {
            try database.inTransaction(.immediate) {
                reports = try batch.map { try attempt($0, on: database, changes: &changes) }
                return .commit
            }
        } catch {
            let error = StateSurfaceError(sqlite: error)
            for pending in batch { pending.fail(error) }
            return
        }
        observers.tell(changes)
        for report in reports { report() }
    }

    /// - Returns: how to report the outcome once the batch is durable.
    private func attempt(
        _ pending: Pending, on database: Database, changes: inout [Change]
    ) throws -> @Sendable () -> Void {
        let transaction = SQLiteTransaction(database, origin: origin)
        var report: @Sendable () -> Void = {}
        do {
            try database.inSavepoint {
                report = try pending.run(transaction)
                return .commit
            }
        } catch let error as DatabaseError where Self.endsTransaction(error) {
            throw error
        } catch {
            let error = StateSurfaceError(sqlite: error)
            return { pending.fail(error) }
        }
        changes += transaction.changes
        return report
    }

    /// After these SQLite may have rolled back the whole transaction by itself.
    private static func endsTransaction(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_CORRUPT, .SQLITE_BUSY, .SQLITE_INTERRUPT: true
        default: false
        }
    }
}
