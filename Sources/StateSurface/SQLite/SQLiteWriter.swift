import GRDB

/// Group commit: writes that arrive while a transaction is committed are collected for the next one.
///
/// A write that fails does not affect the others. Success is reported only after the commit.
final class SQLiteWriter: Sendable {
    private struct Pending: Sendable {
        /// Runs the write, and returns the closure that reports success once it is durable.
        let run: @Sendable (SQLiteTransaction) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
    }

    /// The results of a batch, to report once it is durable.
    private struct Outcome {
        var reports: [@Sendable () -> Void] = []
        var changes: [Change] = []
    }

    /// The failure of one write of a batch, after which the transaction is still usable.
    private struct BodyFailure: Error {
        let cause: any Error
    }

    private let pool: DatabasePool
    private let origin: String
    private let observers: Observers
    private let group: Int
    private let limits: WaitLimits
    private let queue: WaitQueue<Pending, DatabasePool>

    /// - Parameter group: the largest number of writes in one commit.
    ///
    /// - Parameters:
    ///   - origin: marks this process's rows in `changes`.
    ///   - limits: how many writes may wait, and for how long.
    init(pool: DatabasePool, origin: String, observers: Observers, group: Int, limits: WaitLimits) {
        self.pool = pool
        self.origin = origin
        self.observers = observers
        self.group = max(1, group)
        self.limits = limits
        queue = WaitQueue(
            servers: [pool], limit: limits.count, busy: "the embedded database could not take the write in time",
            refuse: { $0.fail($1) })
    }

    /// Runs one write in the next group.
    ///
    /// It returns after the commit that made the write durable, and after its changes have been reported to the
    /// observers. `body` runs on the queue of the writing connection, and again if another write of its group failed.
    ///
    /// - Throws: ``StateSurfaceError``, or the ``TransactionAbort`` that `body` threw.
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
            if let idle = queue.add(pending, until: .now + limits.patience) {
                idle.asyncWriteWithoutTransaction { database in self.drain(database) }
            }
        }
    }

    private func drain(_ database: Database) {
        while true {
            let batch = queue.next(for: pool) { _ in group }
            if batch.isEmpty { return }
            commit(batch, on: database)
        }
    }

    /// Runs the batch without savepoints first. If a write fails, the transaction is rolled back and the batch is run
    /// again with a savepoint for each write, which is slower and rarely needed.
    private func commit(_ batch: [Pending], on database: Database) {
        do {
            finish(try transact(batch, on: database, each: run))
        } catch let failure as BodyFailure where batch.count == 1 {
            batch.first?.fail(Self.reportable(failure.cause))
        } catch is BodyFailure {
            do {
                finish(try transact(batch, on: database, each: attempt))
            } catch {
                fail(batch, error)
            }
        } catch {
            fail(batch, error)
        }
    }

    /// The error that the caller of a failed write gets.
    private static func reportable(_ error: any Error) -> any Error {
        error is any TransactionAbort ? error : StateSurfaceError(sqlite: error)
    }

    private func fail(_ batch: [Pending], _ error: any Error) {
        let error = StateSurfaceError(sqlite: error)
        for pending in batch { pending.fail(error) }
    }

    private func finish(_ outcome: Outcome) {
        observers.notify(outcome.changes)
        for report in outcome.reports { report() }
    }

    /// Runs a batch in one transaction and makes it durable.
    private func transact(
        _ batch: [Pending], on database: Database, each: (Pending, Database, inout Outcome) throws -> Void
    ) throws -> Outcome {
        var outcome = Outcome()
        try database.inTransaction(.immediate) {
            for pending in batch { try each(pending, database, &outcome) }
            return .commit
        }
        return outcome
    }

    /// Runs one write without a savepoint.
    private func run(_ pending: Pending, on database: Database, into outcome: inout Outcome) throws {
        let transaction = SQLiteTransaction(database, origin: origin)
        do {
            outcome.reports.append(try pending.run(transaction))
        } catch let error as DatabaseError where Self.endsTransaction(error) {
            throw error
        } catch {
            throw BodyFailure(cause: error)
        }
        outcome.changes += transaction.changes
    }

    /// Runs one write in a savepoint, so that its failure does not affect the others.
    private func attempt(_ pending: Pending, on database: Database, into outcome: inout Outcome) throws {
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
            let error = Self.reportable(error)
            outcome.reports.append { pending.fail(error) }
            return
        }
        outcome.reports.append(report)
        outcome.changes += transaction.changes
    }

    /// Whether SQLite may have rolled back the whole transaction after this error.
    private static func endsTransaction(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_CORRUPT, .SQLITE_BUSY, .SQLITE_INTERRUPT: true
        default: false
        }
    }
}
