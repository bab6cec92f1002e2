/// A PostgreSQL database shared by any number of nodes: connections that write in groups, connections that read, and
/// one that reads the change log.
final class PostgresEngine: SQLEngine {
    private static let writers = 8
    private static let readers = 4

    let dialect = SQLDialect.postgres
    let observers = Observers()
    let pool: PostgresPool
    private let writer: PostgresWriter
    let listener: PostgresListener

    /// - Parameter clock: the time by which rows of the change log grow old.
    init(
        url: String, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws {
        let settings = try PostgresSettings(url: url)
        let origin = String(UInt64.random(in: .min ... .max), radix: 36)
        let gate = ConnectGate { try settings.connect() }
        let listener = try PostgresListener(settings, origin: origin, observers: observers, clock: clock)
        self.listener = listener
        pool = PostgresPool(gate, size: Self.readers)
        writer = PostgresWriter(
            gate, size: Self.writers, origin: origin, observers: observers,
            wake: { listener.wakeOthers() }, commitUnknown: { listener.readOwn() })
        do {
            try await migrate()
            try await listener.start()
        } catch {
            await close()
            throw Self.whenOpening(error)
        }
    }

    private func migrate() async throws {
        let schema = PostgresSettings.schema
        _ = try await pool.withWorker { worker in
            try await worker.migrate(patience: .seconds(90)) { transaction in
                _ = try transaction.execute("SET LOCAL statement_timeout = 60000", [])
                _ = try transaction.execute("SET LOCAL lock_timeout = 0", [])
                // One migration at a time, among all nodes that start at the same time.
                _ = try transaction.execute("SELECT pg_advisory_xact_lock(7449363841)", [])
                var row = try transaction.row("SELECT to_regnamespace('\(schema)') IS NULL", [])
                if try row?.flag() == true { _ = try transaction.execute("CREATE SCHEMA \(schema)", []) }
                try Schema.migrate(transaction)
                // Not in `Schema`, because SQLite has a change log of another form.
                for statement in PostgresChangeLog.schema { _ = try transaction.execute(statement, []) }
            }
        }
    }

    /// The error for a failure to open the store. A server that answers and refuses is misconfigured, so that the
    /// operator is told and the gateway does not retry.
    private static func whenOpening(_ error: any Error) -> StateSurfaceError {
        if case PostgresFault.unreachable(let why) = error, why.contains("FATAL"),
            !["starting up", "shutting down", "too many", "recovery"].contains(where: why.contains)
        {
            return StateSurfaceError(.misconfigured, "PostgreSQL refuses the connection: \(why)")
        }
        return StateSurfaceError(postgres: error)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try requireFeed()
        return try await writer.write(body)
    }

    func write<Value: Sendable>(
        reading first: SQLStatement, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try requireFeed()
        return try await writer.write(reading: first, body)
    }

    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow] {
        do {
            try requireFeed()
            return try await pool.withWorker { try await $0.rows(sql, values) }
        } catch {
            throw StateSurfaceError(postgres: error)
        }
    }

    /// Throws if the feed is interrupted: the store is then treated as unreachable, without waiting for a silent
    /// server.
    private func requireFeed() throws {
        guard listener.heartbeat.age < .seconds(5) else {
            throw StateSurfaceError(.unavailable, "PostgreSQL gives no sign of life")
        }
    }

    func forgetChanges() -> SQLStatement? {
        listener.settledSnapshot().map { SQLStatement(sql: PostgresChangeLog.forget, values: [.text($0)]) }
    }

    func sinceLastBeat() -> Duration { listener.heartbeat.age }
    func feedIsLost() -> Bool { listener.heartbeat.isLost }

    func ping() async throws {
        _ = try await rows("SELECT 1", [])
    }

    func close() async {
        listener.stop()
        await writer.close()
        await pool.close()
    }
}
