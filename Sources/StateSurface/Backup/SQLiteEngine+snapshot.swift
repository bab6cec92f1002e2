import GRDB

extension SQLiteEngine: SnapshotEngine {
    func snapshot(_ body: @escaping @Sendable (any SQLSnapshot) throws -> Void) async throws {
        // One read transaction sees one state of the write-ahead log.
        try await pool.read { try body(SQLiteSnapshot(database: $0)) }
    }
}

private struct SQLiteSnapshot: SQLSnapshot {
    let database: Database

    func rows(_ sql: String) throws -> [SQLRow] { try database.rows(sql, []) }

    func each(_ sql: String, _ body: (SQLRow) throws -> Void) throws {
        let cursor = try Row.fetchCursor(database, sql: sql)
        while let row = try cursor.next() {
            try body(SQLRow(row.databaseValues.map(Self.value)))
        }
    }

    private static func value(_ value: DatabaseValue) -> SQLValue {
        switch value.storage {
        case .null, .double: .null
        case .int64(let number): .integer(number)
        case .string(let text): .text(text)
        case .blob(let data): .blob(Array(data))
        }
    }
}
