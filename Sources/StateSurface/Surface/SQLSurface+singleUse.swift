private enum SingleUseSQL {
    private static let columns = "kind, hash, owner, payload, expires_at"
    static let insert = "INSERT INTO single_use (\(columns), created_at) VALUES (\(sqlParameters(6)))"
    static let remember = "\(insert) ON CONFLICT DO NOTHING"
    static let find = "SELECT \(columns) FROM single_use WHERE kind = ?1 AND hash = ?2 AND expires_at > ?3"
    static let take = """
        DELETE FROM single_use WHERE kind = ?1 AND hash = ?2 AND expires_at > ?3 RETURNING \(columns)
        """
    /// The payload is compared by the database, byte by byte; a smaller or equal one changes nothing.
    static let raise = """
        \(insert) ON CONFLICT (kind, hash) DO UPDATE SET payload = excluded.payload,
        expires_at = CASE WHEN single_use.expires_at > excluded.expires_at THEN single_use.expires_at
        ELSE excluded.expires_at END
        WHERE single_use.payload < excluded.payload
        """
    static let dropOldest = """
        DELETE FROM single_use WHERE kind = ?1 AND owner = ?2 AND hash <> ?3 AND hash NOT IN (
        SELECT hash FROM single_use WHERE kind = ?1 AND owner = ?2 AND hash <> ?3 AND expires_at > ?4
        ORDER BY created_at DESC, hash LIMIT ?5)
        """

    /// The turn that who raises a record takes, and who must not miss it shares.
    ///
    /// It is needed because there may be no row to lock yet. In PostgreSQL a statement sees what was committed before it
    /// began, so a transaction that looks for the record and one that raises it and then reads could each miss what the
    /// other has not committed. SQLite has one writer and needs no turns.
    static func turn(_ kind: String, _ hash: [UInt8]) -> String {
        turnName("single use \(kind)", hash)
    }
}

// MARK: Inside a transaction
extension SQLTransaction {
    func put(singleUse record: SingleUseRecord, limit: Int, now: Milliseconds) throws {
        _ = try execute(SingleUseSQL.insert, record.values(createdAt: now))
        guard !record.owner.isEmpty else { return }
        // The new record is the newest, whatever the clocks of other nodes say.
        _ = try execute(
            SingleUseSQL.dropOldest,
            [
                .text(record.kind), .text(record.owner), .blob(record.hash), .integer(now),
                .limit(limit.subtractingReportingOverflow(1).partialValue),
            ])
    }

    func take(singleUse kind: String, hash: [UInt8], now: Milliseconds) throws -> SingleUseRecord? {
        try row(SingleUseSQL.take, [.text(kind), .blob(hash), .integer(now)]).map(SingleUseRecord.init(row:))
    }

    func singleUse(kind: String, hash: [UInt8], now: Milliseconds) throws -> SingleUseRecord? {
        try shareTurn(SingleUseSQL.turn(kind, hash))
        return try row(SingleUseSQL.find, [.text(kind), .blob(hash), .integer(now)]).map(SingleUseRecord.init(row:))
    }
}

// MARK: The role
extension SQLSurface {
    func put(singleUse record: SingleUseRecord, limit: Int, now: Milliseconds) async throws {
        try await write { try $0.put(singleUse: record, limit: limit, now: now) }
    }

    func singleUse(kind: String, hash: [UInt8], now: Milliseconds) async throws -> SingleUseRecord? {
        try await row(SingleUseSQL.find, [.text(kind), .blob(hash), .integer(now)]).map(SingleUseRecord.init(row:))
    }

    func take(singleUse kind: String, hash: [UInt8], now: Milliseconds) async throws -> SingleUseRecord? {
        try await write { try $0.take(singleUse: kind, hash: hash, now: now) }
    }

    func raise(singleUse record: SingleUseRecord) async throws {
        try await write { transaction in
            try transaction.takeTurn(SingleUseSQL.turn(record.kind, record.hash))
            try transaction.post(SingleUseSQL.raise, record.values(createdAt: 0))
        }
    }

    func first(kind: String, hash: [UInt8], expiresAt: Milliseconds) async throws -> Bool {
        let record = SingleUseRecord(kind: kind, hash: hash, owner: "", payload: [], expiresAt: expiresAt)
        return try await write { transaction in
            try transaction.execute(SingleUseSQL.remember, record.values(createdAt: 0)) == 1
        }
    }

    func storeTime() async throws -> Milliseconds {
        guard let serverTime = engine.dialect.serverTime else { return clock() }
        guard var row = try await row(serverTime, []) else {
            throw StateSurfaceError(.corrupt, "the database did not tell its time")
        }
        return try row.integer()
    }
}

extension SingleUseRecord {
    fileprivate init(row: SQLRow) throws {
        var row = row
        self.init(
            kind: try row.text(), hash: try row.blob(), owner: try row.text(), payload: try row.blob(),
            expiresAt: try row.integer())
    }

    fileprivate func values(createdAt: Milliseconds) -> [SQLValue] {
        [.text(kind), .blob(hash), .text(owner), .blob(payload), .integer(expiresAt), .integer(createdAt)]
    }
}
