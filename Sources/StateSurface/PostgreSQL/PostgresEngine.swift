/// A PostgreSQL database shared by any number of nodes: a pool of connections, and one that listens for notifications.
final class PostgresEngine: SQLEngine {
    private static let poolSize = 8
    /// How often a transaction is tried that conflicts with others.
    private static let attempts = 5

    let capabilities = SQLDialect.postgres.capabilities
    let observers = Observers()
    private let origin: String
    private let pool: PostgresPool
    private let listener: PostgresListener

    init(url: String) async throws {
        let settings = try PostgresSettings(url: url)
        origin = String(UInt64.random(in: .min ... .max), radix: 36)
        pool = PostgresPool(settings, size: Self.poolSize)
        listener = PostgresListener(settings, origin: origin, observers: observers)
        do {
            try await migrate()
            try await listener.start()
        } catch {
            await pool.close()
            throw Self.whenOpening(error)
        }
    }

    private func migrate() async throws {
        let schema = PostgresSettings.schema
        _ = try await pool.withWorker { worker in
            try await worker.transaction(origin: origin, patience: .seconds(90)) { transaction in
                _ = try transaction.execute("SET LOCAL statement_timeout = 60000", [])
                _ = try transaction.execute("SET LOCAL lock_timeout = 0", [])
                // One migration at a time, among all nodes that start at the same time.
                _ = try transaction.execute("SELECT pg_advisory_xact_lock(7449363841)", [])
                var row = try transaction.row("SELECT to_regnamespace('\(schema)') IS NULL", [])
                if try row?.flag() == true { _ = try transaction.execute("CREATE SCHEMA \(schema)", []) }
                try Schema.migrate(transaction)
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
        do {
            try requireFeed()
            return try await attempt(body)
        } catch PostgresFault.commitUnknown(let changes) {
            // The changes may have been committed. Observers read the data again, so a report too many does no harm.
            observers.tell(changes)
            throw StateSurfaceError(postgres: PostgresFault.commitUnknown(changes))
        } catch let error as any TransactionAbort {
            throw error
        } catch {
            throw StateSurfaceError(postgres: error)
        }
    }

    private func attempt<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        var left = Self.attempts
        while true {
            left -= 1
            do {
                let (value, changes) = try await pool.withWorker { try await $0.transaction(origin: origin, body) }
                observers.tell(changes)
                return value
            } catch let fault as PostgresFault where fault.isCollision && left > 0 {
                try? await Task.sleep(for: .milliseconds(.random(in: 1...20)))
            }
        }
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
        guard listener.beat.age < .seconds(5) else {
            throw StateSurfaceError(.unavailable, "PostgreSQL gives no sign of life")
        }
    }

    func sinceLastBeat() -> Duration { listener.beat.age }
    func feedIsLost() -> Bool { listener.beat.isLost }

    func ping() async throws {
        _ = try await rows("SELECT 1", [])
    }

    func close() async {
        listener.stop()
        await pool.close()
    }
}
