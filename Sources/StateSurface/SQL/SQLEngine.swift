/// Which observers a change is reported to.
enum ChangeReach: Sendable {
    /// Observers here and on every other node.
    case everywhere
    /// Observers in this process only, because no other node can have cached a new row.
    case here
}

/// A statement with its parameters `?1`, `?2` …
struct SQLStatement: Sendable, Equatable {
    let sql: String
    var values: [SQLValue] = []
}

/// An open transaction. It is synchronous, so that nothing suspends inside it. The operations of the roles are
/// extensions of this protocol, written once for both databases.
///
/// Parameters are written `?1`, `?2` …; the engine translates them if necessary.
protocol SQLTransaction: AnyObject, StoreTransaction {
    /// How the statements are written for this database.
    var dialect: SQLDialect { get }
    /// Where events for others are collected; nil if there are no receivers.
    var events: TransactionEvents? { get set }
    /// Runs a statement and returns its rows (also those of `RETURNING`).
    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow]
    /// Runs a statement and returns how many rows it changed.
    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int
    /// Runs a statement whose answer is not needed. Its failure may be thrown by a later statement or by the commit.
    func post(_ sql: String, _ values: [SQLValue]) throws
    /// Records a change, which is reported after the transaction has been committed.
    func record(_ change: Change, reach: ChangeReach) throws
}

/// The name of a turn about something that is known by a hash. It is taken where there may be no row yet to be locked.
func turnName(_ what: String, _ hash: [UInt8]) -> String {
    "\(what) \(hash.map { String($0) }.joined(separator: " "))"
}

extension SQLTransaction {
    func post(_ sql: String, _ values: [SQLValue]) throws { _ = try execute(sql, values) }
    func record(_ change: Change) throws { try record(change, reach: .everywhere) }
    func row(_ sql: String, _ values: [SQLValue]) throws -> SQLRow? { try rows(sql, values).first }

    /// Waits for the transactions that have taken the turn of the same name; later ones wait for this one.
    func takeTurn(_ name: String) throws {
        if let sql = dialect.takeTurn { _ = try execute(sql, [.text(name)]) }
    }

    /// Waits for the transactions that have taken the turn of this name, but not for others that share it. The next
    /// statement sees what they have committed.
    func shareTurn(_ name: String) throws {
        if let sql = dialect.shareTurn { try post(sql, [.text(name)]) }
    }
}

/// A database with a feed. There are two implementations, and ``SQLSurface`` works with both.
protocol SQLEngine: Sendable {
    var dialect: SQLDialect { get }
    /// Runs `body` in one durable transaction. It may run more than once, so it must have no effects except through its
    /// argument. Its changes have been reported when this returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value
    /// The same, for a body that begins with this SELECT. The engine may run it before, at any time since the
    /// transaction began: together with those of others, so that they wait for one answer and not for one each.
    func write<Value: Sendable>(
        reading first: SQLStatement, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value
    /// Runs one SELECT, without waiting for a writer.
    ///
    /// - Throws: ``StateSurfaceError``.
    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow]

    var observers: Observers { get }
    /// The time since the feed last proved that everything committed before had been reported.
    func sinceLastBeat() -> Duration
    /// Whether the feed's connection was lost and has not been made again.
    func feedIsLost() -> Bool
    /// A statement that removes rows of the change log that every node has read; nil if there are none yet, or if writers
    /// remove them.
    func forgetChanges() -> SQLStatement?
    /// Throws unless the database answers and the feed is not interrupted.
    func ping() async throws
    /// Closes the connections. Writes that still wait are completed or refused.
    func close() async
}

extension SQLEngine {
    func forgetChanges() -> SQLStatement? { nil }

    func write<Value: Sendable>(
        reading _: SQLStatement, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await write(body)
    }
}

/// Throws if a text contains NUL, which the databases do not store.
func refuseNUL(in values: [SQLValue]) throws {
    if values.contains(where: \.holdsNUL) {
        throw StateSurfaceError(.failed, "a text holds a NUL character, which the store cannot keep")
    }
}
