extension SQLSurface: BackupStore {
    /// The tables that say nothing of the store's content: who is connected at the moment, what was told to whom, and
    /// what is counted anew.
    private static let passing: Set<String> = ["schema_version", "changes", "change_log", "nodes", "delivery_rooms"]

    var schemaVersion: Int { Schema.version }

    /// Reads one state of the store, table by table, while writes go on. `take` is called on the reading connection's
    /// thread.
    func copy(to take: @escaping @Sendable (BackupItem) throws -> Void) async throws {
        guard let engine = engine as? any SnapshotEngine else { throw Self.unsupported }
        let catalogue = Catalogue(dialect: engine.dialect)
        try await engine.snapshot { snapshot in
            for table in try catalogue.tables(rows: snapshot.rows) where !Self.passing.contains(table) {
                let columns = try catalogue.columns(of: table, rows: snapshot.rows)
                try take(.table(table, columns: columns))
                let sql = "SELECT \(columns.joined(separator: ", ")) FROM \(table)"
                try snapshot.each(sql) { row in try take(.row(row.all.map(BackupItem.Value.init))) }
            }
        }
    }

    /// Writes all items in one transaction, so that a copy that cannot be read to its end leaves the store as it was.
    func restore(
        version: Int, from items: @escaping @Sendable () throws -> AnyIterator<Result<BackupItem, any Error>>
    ) async throws {
        guard version <= Schema.version else {
            throw StateSurfaceError(
                .misconfigured,
                "the copy has schema version \(version), written by a newer gatehouse; this one knows \(Schema.version)"
            )
        }
        let catalogue = Catalogue(dialect: engine.dialect)
        try await engine.write { transaction in
            let rows = { (sql: String) in try transaction.rows(sql, []) }
            let tables = try catalogue.tables(rows: rows).filter { !Self.passing.contains($0) }
            try Self.requireEmpty(rows: rows)
            // What a gateway makes when it first starts gives way to the copy's.
            for table in tables { _ = try transaction.execute("DELETE FROM \(table)", []) }
            var writer = BackupWriter(transaction: transaction, catalogue: catalogue, tables: Set(tables))
            for item in try items() { try writer.write(item.get()) }
            for statement in Schema.corrections(after: version) { _ = try transaction.execute(statement, []) }
            if let passIdentities = transaction.dialect.passIdentities {
                _ = try transaction.rows(passIdentities("deliveries", "sequence"), [])
            }
        }
    }

    private static let unsupported = StateSurfaceError(.failed, "this store can't be copied")

    /// Refuses to replace a store that has something in it.
    private static func requireEmpty(rows: (String) throws -> [SQLRow]) throws {
        for table in ["accounts", "clients", "sessions"] where try !rows("SELECT 1 FROM \(table) LIMIT 1").isEmpty {
            throw StateSurfaceError(
                .misconfigured, "the store is not empty (it has \(table)); a copy is restored into a new store")
        }
    }
}

extension BackupItem.Value {
    init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .blob(bytes)
        }
    }

    fileprivate var stored: SQLValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .text(let text): .text(text)
        case .blob(let bytes): .blob(bytes)
        }
    }
}

/// The tables and columns that a database has.
private struct Catalogue: Sendable {
    let dialect: SQLDialect

    func tables(rows: (String) throws -> [SQLRow]) throws -> [String] { try names(rows(dialect.tableNames)) }

    func columns(of table: String, rows: (String) throws -> [SQLRow]) throws -> [String] {
        try names(rows(dialect.columnNames(table)))
    }

    private func names(_ rows: [SQLRow]) throws -> [String] {
        try rows.map { row in
            var row = row
            return try row.text()
        }
    }
}

/// Writes the items of a copy into the tables that exist.
private struct BackupWriter {
    let transaction: any SQLTransaction
    let catalogue: Catalogue
    let tables: Set<String>
    private var insert = ""
    private var width = 0
    private var count = 0

    init(transaction: any SQLTransaction, catalogue: Catalogue, tables: Set<String>) {
        self.transaction = transaction
        self.catalogue = catalogue
        self.tables = tables
    }

    mutating func write(_ item: BackupItem) throws {
        switch item {
        case .table(let name, let columns):
            // Only names that the database itself has are put into a statement.
            let known = try tables.contains(name) ? catalogue.columns(of: name) { try transaction.rows($0, []) } : []
            guard !columns.isEmpty, Set(columns).isSubset(of: known), Set(columns).count == columns.count else {
                throw StateSurfaceError(
                    .misconfigured, "the copy has a table or column that this version does not know")
            }
            width = columns.count
            insert = """
                INSERT INTO \(name) (\(columns.joined(separator: ", ")))\(transaction.dialect.overridingIdentity) \
                VALUES (\(sqlParameters(columns.count)))
                """
        case .row(let values):
            guard width > 0, values.count == width else {
                throw StateSurfaceError(.misconfigured, "the copy has a row of another length than its table")
            }
            count += 1
            // Most rows are sent without waiting for the answer, but not all of them at once.
            if count.isMultiple(of: 200) {
                _ = try transaction.execute(insert, values.map(\.stored))
            } else {
                try transaction.post(insert, values.map(\.stored))
            }
        }
    }
}
