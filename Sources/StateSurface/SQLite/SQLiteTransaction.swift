import GRDB

/// A transaction on the writing connection. It is used only inside `SQLiteWriter`.
final class SQLiteTransaction: SQLTransaction {
    let dialect = SQLDialect.sqlite
    /// The changes to report after the commit.
    private(set) var changes: [Change] = []

    var events: TransactionEvents?
    private let database: Database
    /// Marks the rows of `changes` written by this process, so that it does not report them twice.
    private let origin: String

    init(_ database: Database, origin: String) {
        self.database = database
        self.origin = origin
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        try refuseNUL(in: values)
        return try database.rows(sql, values)
    }

    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
        try refuseNUL(in: values)
        if values.isEmpty {
            // Includes changes of the schema, which GRDB must notice.
            try database.cachedStatement(sql: sql).execute()
        } else {
            _ = try database.rows(sql, values)
        }
        return database.changesCount
    }

    func record(_ change: Change, reach: ChangeReach) throws {
        if reach == .everywhere {
            _ = try execute(
                "INSERT INTO changes (origin, payload) VALUES (?1, ?2)", [.text(origin), .text(change.text)])
            try pruneChanges()
        }
        changes.append(change)
    }

    /// Removes old rows of `changes`. A process that missed a hundred thousand changes finds a gap and reads everything
    /// again.
    private func pruneChanges() throws {
        let last = database.lastInsertedRowID
        guard last.isMultiple(of: 500) else { return }
        _ = try execute("DELETE FROM changes WHERE seq <= ?1", [.integer(last - 100_000)])
    }
}
