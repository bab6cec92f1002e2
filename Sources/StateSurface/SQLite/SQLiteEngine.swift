import Foundation
import GRDB
import Synchronization

/// The embedded database: one file, one writer that groups commits, and concurrent readers.
final class SQLiteEngine: SQLEngine {
    /// SQLite's forms of the statements that differ.
    let dialect = SQLDialect.sqlite
    let observers = Observers()
    let pool: DatabasePool
    private let writer: SQLiteWriter
    private let poller: SQLitePoller

    /// - Parameters:
    ///   - group: the largest number of writes in one commit.
    ///   - limits: how many writes may wait, and how long. A busy disk is given more time than a server: it has no
    ///     other nodes.
    ///
    /// - Parameter url: `sqlite:PATH`.
    /// - Throws: ``StateSurfaceError`` if the file cannot be used, or its schema is of a newer version.
    init(
        url: String, group: Int = 256, limits: WaitLimits = WaitLimits(patience: .seconds(30))
    ) throws {
        let path = try SQLiteFile.path(ofURL: url)
        try SQLiteFile.prepare(path)
        let origin = UUID().uuidString
        pool = try SQLiteFile.open(path)
        do {
            try Self.migrate(pool)
            poller = try SQLitePoller(path: path, origin: origin, observers: observers)
        } catch {
            throw StateSurfaceError(sqlite: error)
        }
        writer = SQLiteWriter(pool: pool, origin: origin, observers: observers, group: group, limits: limits)
    }

    private static func migrate(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                try Schema.migrate(SQLiteTransaction(database, origin: ""))
                // Not in `Schema`: PostgreSQL keeps its changes in `change_log`, and NOTIFY only wakes those who read
                // it.
                try database.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS changes (seq INTEGER PRIMARY KEY AUTOINCREMENT,
                        origin TEXT NOT NULL, payload TEXT NOT NULL)
                        """)
                return .commit
            }
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await writer.write(body)
    }

    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow] {
        try read(sql, values)
    }

    /// Reads on the calling thread: readers do not wait for the writer, and lookups by index are mostly answered from
    /// memory. Switching threads would take several times as long.
    private func read(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        do {
            // A single statement is a snapshot without a transaction.
            return try pool.unsafeRead { try $0.rows(sql, values) }
        } catch {
            throw StateSurfaceError(sqlite: error)
        }
    }

    /// Near zero while the poller runs; otherwise the time since its last check.
    func sinceLastBeat() -> Duration { poller.heartbeat.age }
    /// Always false, because there is no connection. If the file cannot be read, the heartbeats stop.
    func feedIsLost() -> Bool { false }

    func ping() async throws {
        _ = try await rows("SELECT version FROM schema_version LIMIT 1", [])
        guard poller.heartbeat.age < .seconds(5) else {
            throw StateSurfaceError(.unavailable, "the state file was moved, replaced or can no longer be read")
        }
    }

    func close() async {
        poller.stop()
        await withCheckedContinuation { continuation in
            // After the writes that are waiting, so that all of them complete.
            pool.asyncWriteWithoutTransaction { _ in continuation.resume() }
        }
        try? pool.close()
    }
}
