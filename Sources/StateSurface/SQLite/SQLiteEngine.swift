import Foundation
import GRDB
import Synchronization

/// The embedded database: one file, one writer that groups commits, readers beside it.
final class SQLiteEngine: SQLEngine {
    let capabilities = SQLDialect.sqlite.capabilities
    let observers = Observers()
    private let pool: DatabasePool
    private let writer: SQLiteWriter
    private let poller: SQLitePoller

    init(url: String, group: Int = 256) throws {
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
        writer = SQLiteWriter(pool: pool, origin: origin, observers: observers, group: group)
    }

    private static func migrate(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                try Schema.migrate(SQLiteTransaction(database, origin: ""))
                // Not in `Schema`: PostgreSQL carries its changes by NOTIFY.
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

    /// On the thread that asks: a reader never waits for a writer, and what it looks up by an index lies in memory far
    /// more often than not. A change of threads would take several times as long as the answer.
    private func read(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        do {
            // One statement is a snapshot by itself: no transaction around it.
            return try pool.unsafeRead { try $0.rows(sql, values) }
        } catch {
            throw StateSurfaceError(sqlite: error)
        }
    }

    /// Near zero while the poller runs; the age of its last look otherwise.
    func sinceLastBeat() -> Duration { poller.beat.age }
    /// There is no link that could break; a file that can no longer be read falls silent.
    func feedIsLost() -> Bool { false }

    func ping() async throws {
        _ = try await rows("SELECT version FROM schema_version LIMIT 1", [])
        guard poller.beat.age < .seconds(5) else {
            throw StateSurfaceError(.unavailable, "the state file was moved, replaced or can no longer be read")
        }
    }

    func close() async {
        poller.stop()
        await withCheckedContinuation { continuation in
            // Behind the writes that wait, so that none of them is cut off.
            pool.asyncWriteWithoutTransaction { _ in continuation.resume() }
        }
        try? pool.close()
    }
}
