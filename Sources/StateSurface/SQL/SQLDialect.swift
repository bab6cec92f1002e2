/// What one database understands and others do not. Everything else is written once.
struct SQLDialect: Sendable {
    /// What a store on this database can do.
    let capabilities: StoreCapabilities
    /// The schema is written with SQLite's names of types; these are the database's own for `INTEGER` and `BLOB`.
    let integerType: String
    let blobType: String
    /// An expression for how many bytes the text of a column takes.
    let byteCount: @Sendable (_ column: String) -> String

    static let sqlite = SQLDialect(
        capabilities: StoreCapabilities(isSharedBetweenMachines: false, hasRowLocks: false),
        integerType: "INTEGER", blobType: "BLOB", byteCount: { "LENGTH(CAST(\($0) AS BLOB))" })
    static let postgres = SQLDialect(
        capabilities: StoreCapabilities(isSharedBetweenMachines: true, hasRowLocks: true),
        integerType: "BIGINT", blobType: "BYTEA", byteCount: { "OCTET_LENGTH(\($0))" })

    // One writer at a time needs no row locks: there a transaction is enough.

    /// Appended to a SELECT whose rows must not be changed by others until the transaction is over.
    var forUpdate: String { capabilities.hasRowLocks ? " FOR UPDATE" : "" }
    /// Appended to a SELECT whose rows others may read, but not change, until the transaction is over.
    var forShare: String { capabilities.hasRowLocks ? " FOR SHARE" : "" }
    /// For clearing up: rows that another node is working on are left to it.
    var skipLocked: String { capabilities.hasRowLocks ? " FOR UPDATE SKIP LOCKED" : "" }

    /// A statement that keeps others from changing a table until the transaction is over, where one is needed.
    func lock(table: String) -> String? {
        capabilities.hasRowLocks ? "LOCK TABLE \(table) IN EXCLUSIVE MODE" : nil
    }

    /// A statement of the schema with this database's names of types.
    func schema(_ sql: String) -> String {
        sql.split(separator: " ", omittingEmptySubsequences: false)
            .map { word in
                if word.hasPrefix("INTEGER") { return integerType + word.dropFirst(7) }
                if word.hasPrefix("BLOB") { return blobType + word.dropFirst(4) }
                return String(word)
            }
            .joined(separator: " ")
    }
}
