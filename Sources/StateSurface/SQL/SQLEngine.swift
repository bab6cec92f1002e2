/// Who is told of a change.
enum ChangeReach: Sendable {
    /// Observers here and on every other node.
    case everywhere
    /// Observers here only: no other node can remember a row that did not exist.
    case here
}

/// An open transaction: synchronous, so that nothing can suspend in the middle of it. What the roles do in one is written
/// once, above both databases, in the extensions of this protocol.
///
/// Parameters are written `?1`, `?2` …; the engine translates them where need be.
protocol SQLTransaction: AnyObject, StoreTransaction {
    var dialect: SQLDialect { get }
    /// Runs a statement and returns its rows (also those of `RETURNING`).
    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow]
    /// Runs a statement and returns how many rows it changed.
    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int
    /// Runs a statement whose answer is not needed. That it failed may be thrown as late as by the commit.
    func post(_ sql: String, _ values: [SQLValue]) throws
    /// Notes a change, to be told once the transaction has been committed.
    func record(_ change: Change, reach: ChangeReach) throws
}

extension SQLTransaction {
    func post(_ sql: String, _ values: [SQLValue]) throws { _ = try execute(sql, values) }
    func record(_ change: Change) throws { try record(change, reach: .everywhere) }
    func row(_ sql: String, _ values: [SQLValue]) throws -> SQLRow? { try rows(sql, values).first }
}

/// A database with a feed. Two of them exist; ``SQLSurface`` is the same above both.
protocol SQLEngine: Sendable {
    var capabilities: StoreCapabilities { get }
    /// Runs `body` in one durable transaction. It may run more than once: it must have no effects but through its
    /// argument. Observers have been told of what it recorded when this returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value
    /// Runs one SELECT, without waiting for a writer.
    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow]

    var observers: Observers { get }
    func sinceLastBeat() -> Duration
    func feedIsLost() -> Bool
    func ping() async throws
    func close() async
}

/// Refuses a text that the databases would not keep as it is.
func refuseNUL(in values: [SQLValue]) throws {
    if values.contains(where: \.holdsNUL) {
        throw StateSurfaceError(.failed, "a text holds a NUL character, which the store cannot keep")
    }
}
