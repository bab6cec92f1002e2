import Dispatch

/// Runs an actor's jobs on its own queue, so that a blocking libpq call blocks only that actor.
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// One connection, which is made when first used and again after it was lost.
actor PostgresWorker {
    private let executor = QueueExecutor("gatehouse.state.postgres")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let gate: ConnectGate
    /// How long to wait for a connection before callers get an error.
    private let patience: Duration
    private var connection: Connection?
    /// The attempt to make one that is under way.
    private var attempt: ConnectionAttempt?

    init(_ gate: ConnectGate, patience: Duration = .seconds(5)) {
        self.gate = gate
        self.patience = patience
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        try withConnection { try $0.query(sql, values).rows }
    }

    /// Runs a transaction of its own, without reporting any change: for migrations.
    func migrate(patience: Duration, _ body: @Sendable (any SQLTransaction) throws -> Void) throws {
        try withConnection(within: patience) { connection in
            connection.patience = patience
            defer { connection.patience = .seconds(7) }
            try connection.begin()
            do {
                try body(PostgresTransaction(connection))
                try Self.commit(connection, [])
            } catch {
                if connection.isUsable { try connection.rollback() }
                throw error
            }
        }
    }

    /// Runs writes in one transaction.
    ///
    /// A group holds the locks of all its writes until it commits, so it does not wait long for those of others; see
    /// ``PostgresSettings/connect()``.
    ///
    /// - Parameters:
    ///   - savepoints: whether a write that fails is undone alone. Otherwise the whole transaction is rolled back with
    ///     the first failure.
    ///   - isAlone: whether it may wait for the locks of others, because it is the only one that does.
    /// - Returns: what to report now that the transaction is durable.
    /// - Throws: ``PostgresGroupFailure`` if it was rolled back because a write failed; other errors if the connection
    ///   was lost, with which nothing more can be said about it.
    func group(
        _ writes: [PostgresWrite], origin: String, savepoints: Bool, isAlone: Bool = false
    ) throws -> PostgresGroup {
        try withConnection { connection in
            var group = PostgresGroup()
            try connection.begin()
            if isAlone { try connection.post(Self.lockTimeoutAlone, []) }
            do {
                let readings = savepoints ? [] : try Self.readAhead(writes, on: connection)
                for (index, write) in writes.enumerated() {
                    if group.collided.count >= Self.patienceWithLocks {
                        // The rows of the others stay locked while this transaction waits.
                        group.collided.append(write)
                    } else if savepoints {
                        try Self.attempt(write, on: connection, into: &group)
                    } else {
                        let first = readings.isEmpty ? nil : readings[index]
                        try Self.run(write, on: connection, into: &group, first: first)
                    }
                }
                if !group.changesForOthers.isEmpty {
                    let payload = PostgresChangeLog.payload(group.changesForOthers)
                    try connection.post(PostgresChangeLog.append, [.text(origin), .text(payload)])
                }
                try Self.commit(connection, group.changes)
                return group
            } catch PostgresFault.commitUnknown(let changes) {
                throw PostgresFault.commitUnknown(changes)
            } catch {
                guard connection.isUsable, (error as? PostgresFault)?.isLoss != true else { throw error }
                try connection.rollback()
                throw PostgresGroupFailure(cause: error)
            }
        }
    }

    /// The number of a group's writes that may wait for locks in vain. After that, the rest of the group runs one by
    /// one.
    private static let patienceWithLocks = 2
    private static let lockTimeoutAlone = "SET LOCAL lock_timeout = 4000"

    /// Reads what the writes of a group begin with, in one round trip.
    ///
    /// Of several that begin alike only the first has its answer: the others have to see what it changes.
    ///
    /// - Returns: for each write its reading, or nil; empty where nothing was read.
    private static func readAhead(
        _ writes: [PostgresWrite], on connection: Connection
    ) throws -> [PostgresReading?] {
        guard writes.count > 1 else { return [] }
        var statements: [SQLStatement] = []
        var places: [Int?] = []
        for write in writes {
            if let first = write.first, !statements.contains(first) {
                places.append(statements.count)
                statements.append(first)
            } else {
                places.append(nil)
            }
        }
        guard statements.count > 1 else { return [] }
        let answers = try connection.queries(statements)
        return places.map { place in
            place.map { PostgresReading(statement: statements[$0], rows: answers[$0].rows) }
        }
    }

    private static func run(
        _ write: PostgresWrite, on connection: Connection, into group: inout PostgresGroup,
        first: PostgresReading? = nil
    ) throws {
        let transaction = PostgresTransaction(connection, first: first)
        group.reports.append(try write.run(transaction))
        group.changes += transaction.changes
        group.changesForOthers += transaction.changesForOthers
    }

    /// Runs one write in a savepoint, so that its failure does not affect the others.
    private static func attempt(
        _ write: PostgresWrite, on connection: Connection, into group: inout PostgresGroup
    ) throws {
        try connection.post("SAVEPOINT one", [])
        let before = group
        do {
            try run(write, on: connection, into: &group)
            // Waits for the answers to everything that was posted: a failure belongs to this write.
            _ = try connection.query("RELEASE SAVEPOINT one", [])
        } catch {
            group = before
            guard connection.isUsable, (error as? PostgresFault)?.isLoss != true else { throw error }
            try connection.rollbackToSavepoint("one")
            if (error as? PostgresFault)?.isCollision == true {
                group.collided.append(write)
            } else {
                group.failures.append((write, error))
            }
        }
    }

    func disconnect() {
        (connection, attempt) = (nil, nil)
    }

    private static func commit(_ connection: Connection, _ changes: [Change]) throws {
        let answer: PostgresAnswer
        do {
            answer = try connection.commit()
        } catch let fault as PostgresFault where fault.isLoss {
            throw PostgresFault.commitUnknown(changes)
        }
        // An aborted transaction answers COMMIT with ROLLBACK.
        guard answer.tag == "COMMIT" else {
            throw StateSurfaceError(.failed, "PostgreSQL rolled the transaction back")
        }
    }

    /// Runs `body` with a connection. If the connection was lost while it was idle, and only then, `body` is run again
    /// with a new one.
    private func withConnection<Value>(
        within patience: Duration? = nil, _ body: (Connection) throws -> Value
    ) throws -> Value {
        // An attempt that took too long for the last caller. Its connection has been idle since; its failure has been
        // recorded by the gate.
        if let late = attempt?.result(within: .zero) { (connection, attempt) = (try? late.get(), nil) }
        if let connection, connection.isUsable {
            do {
                return try use(connection, body)
            } catch let fault as PostgresFault where fault.isProbablyStale {}
        }
        connection = nil
        let fresh = try gate.connection(within: patience ?? self.patience, &attempt)
        connection = fresh
        return try use(fresh, body)
    }

    private func use<Value>(_ connection: Connection, _ body: (Connection) throws -> Value) throws -> Value {
        do {
            return try body(connection)
        } catch {
            let fault = error as? PostgresFault
            if let failure = error as? PostgresGroupFailure, failure.isStale { self.connection = nil }
            let isStale = fault?.isStaleStatement == true
            if !connection.isUsable || isStale || fault?.isLoss == true { self.connection = nil }
            throw error
        }
    }
}

/// A transaction was rolled back, because a write in it failed. The connection can still be used.
struct PostgresGroupFailure: Error {
    /// What the write threw.
    let cause: any Error

    /// Whether it conflicted with another transaction, so that it can be tried again.
    var isCollision: Bool { (cause as? PostgresFault)?.isCollision ?? false }

    /// Whether the prepared statements no longer fit the tables or the server process.
    var isStale: Bool { (cause as? PostgresFault)?.isStaleStatement ?? false }
}
