/// A transaction on one connection. It is used only inside `PostgresWorker`.
final class PostgresTransaction: SQLTransaction {
    let dialect = SQLDialect.postgres
    private(set) var changes: [Change] = []
    private(set) var changesForOthers: [Change] = []
    var events: EventLine?
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        try connection.query(sql, values).rows
    }

    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
        try connection.query(sql, values).changed
    }

    func post(_ sql: String, _ values: [SQLValue]) throws {
        try connection.post(sql, values)
    }

    func record(_ change: Change, reach: ChangeReach) throws {
        changes.append(change)
        if reach == .everywhere { changesForOthers.append(change) }
    }
}
