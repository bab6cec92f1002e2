/// A transaction on one connection. It is used only inside `PostgresWorker`.
final class PostgresTransaction: SQLTransaction {
    let dialect = SQLDialect.postgres
    private(set) var changes: [Change] = []
    private(set) var changesForOthers: [Change] = []
    var events: TransactionEvents?
    private let connection: Connection
    /// The answer to its first statement, if that was sent before.
    private var first: PostgresReading?

    init(_ connection: Connection, first: PostgresReading? = nil) {
        self.connection = connection
        self.first = first
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        if let answer = takeFirst(sql, values) { return answer }
        return try connection.query(sql, values).rows
    }

    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
        first = nil
        return try connection.query(sql, values).changed
    }

    func post(_ sql: String, _ values: [SQLValue]) throws {
        first = nil
        try connection.post(sql, values)
    }

    /// Whatever the first statement is, later ones may have to see what it has done.
    private func takeFirst(_ sql: String, _ values: [SQLValue]) -> [SQLRow]? {
        defer { first = nil }
        guard let first, first.statement == SQLStatement(sql: sql, values: values) else { return nil }
        return first.rows
    }

    func record(_ change: Change, reach: ChangeReach) throws {
        changes.append(change)
        if reach == .everywhere { changesForOthers.append(change) }
    }
}

/// A SELECT and its rows.
struct PostgresReading {
    let statement: SQLStatement
    let rows: [SQLRow]
}
