import Dispatch
import GRDB
import Glibc

extension StateSurfaceFactory {
    /// Looks at a store. Neither tables nor rows are made or changed.
    ///
    /// - Parameter clock: read when the store's own has been, to compare them.
    /// - Throws: ``StateSurfaceError`` if it can't be reached or read.
    package static func inspect(
        url: String, clock: @escaping @Sendable () -> Milliseconds
    ) async throws -> StoreInspection {
        guard let place = StoreURL(url) else { throw unknownURL }
        // Both block.
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        switch place {
                        case .sqlite: try inspectSQLite(url)
                        case .postgres: try inspectPostgres(url, clock)
                        }
                    })
            }
        }
    }

    private static func inspectSQLite(_ url: String) throws -> StoreInspection {
        let path = try SQLiteFile.path(ofURL: url)
        guard try !SQLiteFile.isMissing(path) else {
            return StoreInspection(file: path, version: nil, isWritable: false)
        }
        do {
            let mayWrite = access(path, W_OK) == 0
            var configuration = Configuration()
            configuration.busyMode = .timeout(3)
            configuration.readonly = !mayWrite
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.inDatabase { database in
                let hasTables = try !database.rows(
                    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'", []
                ).isEmpty
                var seen = StoreInspection(file: path, version: nil, isWritable: mayWrite)
                if hasTables {
                    var version = try database.rows("SELECT COALESCE(MAX(version), 0) FROM schema_version", []).first
                    seen.version = Int(clamping: try version?.integer() ?? 0)
                    var newest = try database.rows("SELECT created_at FROM sessions ORDER BY rowid DESC LIMIT 1", [])
                        .first
                    seen.newestSession = try newest?.integer()
                }
                if mayWrite { try database.execute(sql: "BEGIN IMMEDIATE; ROLLBACK") }
                return seen
            }
        } catch {
            throw StateSurfaceError(sqlite: error)
        }
    }

    private static func inspectPostgres(
        _ url: String, _ clock: () -> Milliseconds
    ) throws -> StoreInspection {
        do {
            let connection = try PostgresSettings(url: url).connect()
            func row(_ sql: String) throws -> SQLRow? { try connection.query(sql, []).rows.first }
            let table = "\(PostgresSettings.schema).schema_version"
            var first = try row(
                """
                SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint, to_regclass('\(table)') IS NOT NULL,
                has_database_privilege(current_database(), 'CREATE'),
                (SELECT COUNT(*) FROM pg_stat_activity WHERE datid IS NOT NULL)
                """)
            let now = clock()
            var seen = StoreInspection(version: nil, isWritable: false)
            if let serverTime = try first?.integer() { seen.clockOffset = serverTime - now }
            let hasTables = try first?.flag() ?? false
            seen.isWritable = try first?.flag() ?? false
            seen.connections = try first?.integer()
            if hasTables {
                var version = try row("SELECT COALESCE(MAX(version), 0)::bigint FROM \(table)")
                seen.version = Int(clamping: try version?.integer() ?? 0)
                var rights = try row(
                    "SELECT has_table_privilege('\(PostgresSettings.schema).sessions', 'INSERT, UPDATE')")
                seen.isWritable = try rights?.flag() ?? false
            }
            for var setting in try connection.query(
                """
                SELECT name::text, COALESCE(reset_val, '')::text FROM pg_settings WHERE name IN ('fsync',
                'full_page_writes', 'synchronous_commit', 'max_connections', 'superuser_reserved_connections')
                """, []
            ).rows {
                seen.settings[try setting.text()] = try setting.text()
            }
            return seen
        } catch {
            throw StateSurfaceError(postgres: error)
        }
    }
}
