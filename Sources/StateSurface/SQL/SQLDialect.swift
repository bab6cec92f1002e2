/// The differences in SQL between the databases. Everything else is written once.
struct SQLDialect: Sendable {
    /// The properties of a store on this database.
    let capabilities: StoreCapabilities
    /// The database's names of the types that the schema calls `INTEGER` and `BLOB`.
    let integerType: String
    let blobType: String
    /// An expression for the length of a text column in bytes.
    let byteCount: @Sendable (_ column: String) -> String

    static let sqlite = SQLDialect(
        capabilities: StoreCapabilities(isSharedBetweenMachines: false, hasRowLocks: false),
        integerType: "INTEGER", blobType: "BLOB", byteCount: { "LENGTH(CAST(\($0) AS BLOB))" })
    static let postgres = SQLDialect(
        capabilities: StoreCapabilities(isSharedBetweenMachines: true, hasRowLocks: true),
        integerType: "BIGINT", blobType: "BYTEA", byteCount: { "OCTET_LENGTH(\($0))" })

    // A database with one writer at a time needs no row locks.

    /// Appended to a SELECT whose rows others must not change or lock until the transaction ends.
    var forUpdate: String { capabilities.hasRowLocks ? " FOR UPDATE" : "" }
    /// Appended to a SELECT whose rows others may lock for sharing, but not change, until the transaction ends.
    var forShare: String { capabilities.hasRowLocks ? " FOR SHARE" : "" }
    /// Appended to a SELECT for clean-up: rows that another node has locked are skipped.
    var skipLocked: String { capabilities.hasRowLocks ? " FOR UPDATE SKIP LOCKED" : "" }

    /// A statement that locks a table against changes until the transaction ends; nil if none is needed.
    func lock(table: String) -> String? {
        capabilities.hasRowLocks ? "LOCK TABLE \(table) IN EXCLUSIVE MODE" : nil
    }

    /// A statement of the schema with this database's type names.
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
