extension PostgresEngine: SnapshotEngine {
    func snapshot(_ body: @escaping @Sendable (any SQLSnapshot) throws -> Void) async throws {
        do {
            try await pool.withWorker { worker in
                try await worker.migrate(patience: .seconds(600)) { transaction in
                    let mode = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                    _ = try transaction.execute(mode, [])
                    _ = try transaction.execute("SET LOCAL statement_timeout = 600000", [])
                    _ = try transaction.execute("SET LOCAL idle_in_transaction_session_timeout = 0", [])
                    try body(PostgresSnapshot(transaction: transaction))
                }
            }
        } catch let fault as PostgresFault {
            throw StateSurfaceError(postgres: fault)
        }
    }
}

private final class PostgresSnapshot: SQLSnapshot {
    /// How many rows are read at a time.
    private static let portion = 2_000

    private let transaction: any SQLTransaction
    /// Each cursor has a name of its own, since statements are prepared by their text.
    private var cursors = 0

    init(transaction: any SQLTransaction) { self.transaction = transaction }

    func rows(_ sql: String) throws -> [SQLRow] { try transaction.rows(sql, []) }

    func each(_ sql: String, _ body: (SQLRow) throws -> Void) throws {
        cursors += 1
        let name = "copied_\(cursors)"
        _ = try transaction.execute("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", [])
        while true {
            let rows = try transaction.rows("FETCH \(Self.portion) FROM \(name)", [])
            for row in rows { try body(row) }
            if rows.count < Self.portion { break }
        }
        _ = try transaction.execute("CLOSE \(name)", [])
    }
}
