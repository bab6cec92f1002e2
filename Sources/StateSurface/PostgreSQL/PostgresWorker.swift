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

    private let settings: PostgresSettings
    private let gate: ConnectGate
    private var connection: Connection?

    init(_ settings: PostgresSettings, gate: ConnectGate) {
        self.settings = settings
        self.gate = gate
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        try withConnection { try $0.query(sql, values).rows }
    }

    /// Runs a transaction.
    ///
    /// - Returns: the value, and the changes to report now that they are durable.
    func transaction<Value: Sendable>(
        origin: String, patience: Duration = .seconds(7),
        _ body: @Sendable (any SQLTransaction) throws -> Value
    ) throws -> (Value, [Change]) {
        try withConnection { connection in
            connection.patience = patience
            defer { connection.patience = .seconds(7) }
            try connection.begin()
            let transaction = PostgresTransaction(connection, origin: origin)
            do {
                let value = try body(transaction)
                try transaction.notify()
                try Self.commit(connection, transaction.changes)
                return (value, transaction.changes)
            } catch PostgresFault.commitUnknown(let changes) {
                throw PostgresFault.commitUnknown(changes)
            } catch {
                if connection.isUsable { try connection.rollback() }
                throw error
            }
        }
    }

    func disconnect() {
        connection = nil
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
    private func withConnection<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        if let connection, connection.isUsable {
            do {
                return try attempt(body, on: connection)
            } catch let fault as PostgresFault where fault.isProbablyStale {}
        }
        connection = nil
        let fresh = try gate.connect(settings)
        connection = fresh
        return try attempt(body, on: fresh)
    }

    private func attempt<Value>(_ body: (Connection) throws -> Value, on connection: Connection) throws -> Value {
        do {
            return try body(connection)
        } catch {
            let fault = error as? PostgresFault
            // 0A000 and 26000: the prepared statements no longer fit the tables or the server process.
            let isStale = if case .refused(let state)? = fault { ["0A000", "26000"].contains(state) } else { false }
            if !connection.isUsable || isStale || fault?.isLoss == true { self.connection = nil }
            throw error
        }
    }
}
