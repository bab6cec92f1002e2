/// The differences in SQL between the databases. Everything else is written once.
struct SQLDialect: Sendable {
    /// The properties of a store on this database.
    let capabilities: StoreCapabilities
    /// The database's names of the types that the schema calls `INTEGER` and `BLOB`.
    let integerType: String
    let blobType: String
    /// What the schema calls `IDENTITY`: a primary key whose numbers grow, and are never used twice.
    let identityType: String
    /// An expression for the length of a text column in bytes.
    let byteCount: @Sendable (_ column: String) -> String
    /// Whether a WITH clause may change rows.
    let writesInWith: Bool
    /// The function that finds a text in another: its position from 1 on, 0 where it is not there.
    let positionFunction: String
    /// Stands before VALUES where identities that exist already are inserted again.
    let overridingIdentity: String
    /// A statement after which new identities of a table are greater than those that were inserted; nil if none is
    /// needed.
    let passIdentities: (@Sendable (_ table: String, _ column: String) -> String)?
    /// A condition for some of the rows of a table for which another condition is true: at most as many as the
    /// parameter `limit` says, and none that another node has locked.
    let someRows: @Sendable (_ table: String, _ condition: String, _ limit: String) -> String
    /// A SELECT for the time of the database's server in milliseconds; nil for a database that has no server, and so the
    /// clock of the machine.
    let serverTime: String?
    /// A SELECT for the names of all tables, and one for those of a table's columns.
    let tableNames: String
    let columnNames: @Sendable (_ table: String) -> String

    static let sqlite = SQLDialect(
        capabilities: StoreCapabilities(name: "sqlite", isSharedBetweenMachines: false, hasRowLocks: false),
        integerType: "INTEGER", blobType: "BLOB", identityType: "INTEGER PRIMARY KEY AUTOINCREMENT",
        byteCount: { "LENGTH(CAST(\($0) AS BLOB))" }, writesInWith: false, positionFunction: "INSTR",
        overridingIdentity: "",
        passIdentities: nil,
        someRows: { table, condition, limit in
            "rowid IN (SELECT rowid FROM \(table) WHERE \(condition) LIMIT \(limit))"
        },
        serverTime: nil,
        tableNames: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY 1",
        columnNames: { "SELECT name FROM pragma_table_info('\($0)') ORDER BY 1" })

    static let postgres = SQLDialect(
        capabilities: StoreCapabilities(name: "postgres", isSharedBetweenMachines: true, hasRowLocks: true),
        integerType: "BIGINT", blobType: "BYTEA", identityType: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        byteCount: { "OCTET_LENGTH(\($0))" }, writesInWith: true, positionFunction: "STRPOS",
        overridingIdentity: " OVERRIDING SYSTEM VALUE",
        passIdentities: { table, column in
            """
            SELECT setval(pg_get_serial_sequence('\(table)', '\(column)'),
            (SELECT COALESCE(MAX(\(column)), 0) + 1 FROM \(table)), false)
            """
        },
        someRows: { table, condition, limit in
            """
            ctid = ANY (ARRAY(SELECT ctid FROM \(table) WHERE \(condition) LIMIT \(limit)
            FOR UPDATE SKIP LOCKED))
            """
        },
        serverTime: "SELECT \(PostgresChangeLog.time)",
        tableNames: """
            SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1
            """,
        columnNames: { table in
            """
            SELECT column_name::text FROM information_schema.columns
            WHERE table_schema = current_schema() AND table_name = '\(table)' ORDER BY 1
            """
        })

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

    /// A statement after which the transactions that have run it with the same text, as its one parameter, come one
    /// after the other until their end; nil if they do anyhow. For counting rows before another is inserted.
    var takeTurn: String? {
        capabilities.hasRowLocks ? "SELECT pg_advisory_xact_lock(hashtextextended(?1, 0))" : nil
    }

    /// As ``takeTurn``, for transactions that need not wait for each other, only for those that have taken the turn, which
    /// wait for them.
    var shareTurn: String? {
        capabilities.hasRowLocks ? "SELECT pg_advisory_xact_lock_shared(hashtextextended(?1, 0))" : nil
    }

    /// A statement of the schema with this database's type names.
    func schema(_ sql: String) -> String {
        sql.split(separator: " ", omittingEmptySubsequences: false)
            .map { word in
                if word.hasPrefix("INTEGER") { return integerType + word.dropFirst(7) }
                if word.hasPrefix("IDENTITY") { return identityType + word.dropFirst(8) }
                if word.hasPrefix("BLOB") { return blobType + word.dropFirst(4) }
                return String(word)
            }
            .joined(separator: " ")
    }
}
