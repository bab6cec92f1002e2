import Foundation
import GRDB

/// A transaction on the one writing connection. Lives only inside `SQLiteWriter`.
final class SQLiteTransaction: SQLTransaction {
    let dialect = SQLDialect.sqlite
    /// What is to be told once the transaction has been committed.
    private(set) var changes: [Change] = []

    private let database: Database
    /// Marks the rows of `changes` that this process wrote, so that it does not tell them twice.
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
        let statement = try database.cachedStatement(sql: sql)
        try statement.execute(arguments: StatementArguments(values))
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

    /// A process that sleeps through a hundred thousand changes finds a gap and asks everything again.
    private func pruneChanges() throws {
        let last = database.lastInsertedRowID
        guard last.isMultiple(of: 500) else { return }
        _ = try execute("DELETE FROM changes WHERE seq <= ?1", [.integer(last - 100_000)])
    }
}

extension Database {
    /// Runs a statement through the connection's cache and copies its rows out.
    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        let statement = try cachedStatement(sql: sql)
        let cursor = try Row.fetchCursor(statement, arguments: StatementArguments(values))
        var rows: [SQLRow] = []
        while let row = try cursor.next() {
            rows.append(SQLRow(row.databaseValues.map(SQLValue.init)))
        }
        return rows
    }
}

extension StatementArguments {
    init(_ values: [SQLValue]) {
        self.init(values.map(\.databaseValue))
    }
}

extension SQLValue {
    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let value): self = .integer(value)
        // No column holds one; an integer that overflowed would be one.
        case .double: self = .null
        case .string(let value): self = .text(value)
        case .blob(let value): self = .blob([UInt8](value))
        }
    }

    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .blob(let value): Data(value).databaseValue
        }
    }
}
