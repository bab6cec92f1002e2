/// Where the two databases do not speak alike. Everything else is written once.
enum SQLDialect: Sendable {
    case sqlite, postgres

    /// Appended to a SELECT whose rows must not be changed by others until the transaction is over.
    /// SQLite has one writer at a time, so there a transaction needs no row locks.
    var forUpdate: String { self == .postgres ? " FOR UPDATE" : "" }
    var forShare: String { self == .postgres ? " FOR SHARE" : "" }
    /// For reapers: rows that another node has in its hands are left to it.
    var skipLocked: String { self == .postgres ? " FOR UPDATE SKIP LOCKED" : "" }

    /// A statement that keeps others from changing a table until the transaction is over, where one is needed.
    func lock(table: String) -> String? { self == .postgres ? "LOCK TABLE \(table) IN EXCLUSIVE MODE" : nil }

    /// How many bytes a text takes.
    func size(of column: String) -> String {
        self == .postgres ? "OCTET_LENGTH(\(column))" : "LENGTH(CAST(\(column) AS BLOB))"
    }

    /// The schema is written with SQLite's type names.
    func schema(_ sql: String) -> String {
        switch self {
        case .sqlite: sql
        case .postgres:
            sql.split(separator: " ", omittingEmptySubsequences: false)
                .map { word in
                    if word.hasPrefix("INTEGER") { return "BIGINT" + word.dropFirst(7) }
                    if word.hasPrefix("BLOB") { return "BYTEA" + word.dropFirst(4) }
                    return String(word)
                }
                .joined(separator: " ")
        }
    }
}

/// Who is told of a change.
enum ChangeReach: Sendable {
    /// Observers here and on every other node.
    case everywhere
    /// Observers here only: nobody else can remember a row that did not exist.
    case here
}

/// An open transaction: synchronous, so that nothing can suspend in the middle of it.
///
/// Parameters are written `?1`, `?2` …; the engine translates them where need be.
protocol SQLTransaction: AnyObject {
    var dialect: SQLDialect { get }
    /// Runs a statement and returns its rows (also those of `RETURNING`).
    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow]
    /// Runs a statement and returns how many rows it changed.
    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int
    /// Runs a statement whose answer nobody needs. That it failed may be thrown as late as by the commit.
    func post(_ sql: String, _ values: [SQLValue]) throws
    /// Notes a change, to be told once the transaction has been committed.
    func record(_ change: Change, reach: ChangeReach) throws
}

extension SQLTransaction {
    func post(_ sql: String, _ values: [SQLValue]) throws { _ = try execute(sql, values) }
    func record(_ change: Change) throws { try record(change, reach: .everywhere) }
    func row(_ sql: String, _ values: [SQLValue]) throws -> SQLRow? { try rows(sql, values).first }
}

/// A database with a feed. Two of them exist; `SQLSurface` is the same above both.
protocol SQLEngine: Sendable {
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
