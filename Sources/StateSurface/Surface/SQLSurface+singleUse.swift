extension SQLSurface {
    private static let singleUseColumns = "kind, hash, owner, payload, expires_at"

    func put(singleUse record: SingleUseRecord, limit: Int, now: Milliseconds) async throws {
        try await write { transaction in
            _ = try transaction.execute(
                """
                INSERT INTO single_use (\(Self.singleUseColumns), created_at) VALUES (\(sqlParameters(6)))
                """,
                [
                    .text(record.kind), .blob(record.hash), .text(record.owner), .blob(record.payload),
                    .integer(record.expiresAt), .integer(now),
                ])
            guard !record.owner.isEmpty else { return }
            // The new record is the newest, whatever the clocks of other nodes say.
            _ = try transaction.execute(
                """
                DELETE FROM single_use WHERE kind = ?1 AND owner = ?2 AND hash <> ?3 AND hash NOT IN (
                SELECT hash FROM single_use WHERE kind = ?1 AND owner = ?2 AND hash <> ?3 AND expires_at > ?4
                ORDER BY created_at DESC, hash LIMIT ?5)
                """,
                [
                    .text(record.kind), .text(record.owner), .blob(record.hash), .integer(now),
                    .limit(limit.subtractingReportingOverflow(1).partialValue),
                ])
        }
    }

    func singleUse(kind: String, hash: [UInt8], now: Milliseconds) async throws -> SingleUseRecord? {
        try await row(
            "SELECT \(Self.singleUseColumns) FROM single_use WHERE kind = ?1 AND hash = ?2 AND expires_at > ?3",
            [.text(kind), .blob(hash), .integer(now)]
        ).map(SingleUseRecord.init(row:))
    }

    func take(singleUse kind: String, hash: [UInt8], now: Milliseconds) async throws -> SingleUseRecord? {
        try await write { transaction in
            try transaction.row(
                """
                DELETE FROM single_use WHERE kind = ?1 AND hash = ?2 AND expires_at > ?3
                RETURNING \(Self.singleUseColumns)
                """, [.text(kind), .blob(hash), .integer(now)]
            ).map(SingleUseRecord.init(row:))
        }
    }

    /// The payload is compared by the database, byte by byte; a smaller or equal one changes nothing.
    func raise(singleUse record: SingleUseRecord) async throws {
        try await write { transaction in
            try transaction.post(
                """
                INSERT INTO single_use (\(Self.singleUseColumns), created_at) VALUES (\(sqlParameters(6)))
                ON CONFLICT (kind, hash) DO UPDATE SET payload = excluded.payload,
                expires_at = CASE WHEN single_use.expires_at > excluded.expires_at THEN single_use.expires_at
                ELSE excluded.expires_at END
                WHERE single_use.payload < excluded.payload
                """,
                [
                    .text(record.kind), .blob(record.hash), .text(record.owner), .blob(record.payload),
                    .integer(record.expiresAt), .integer(0),
                ])
        }
    }

    func first(kind: String, hash: [UInt8], expiresAt: Milliseconds) async throws -> Bool {
        try await write { transaction in
            try transaction.execute(
                """
                INSERT INTO single_use (\(Self.singleUseColumns), created_at) VALUES (\(sqlParameters(6)))
                ON CONFLICT DO NOTHING
                """,
                [.text(kind), .blob(hash), .text(""), .blob([]), .integer(expiresAt), .integer(0)]) == 1
        }
    }
}

extension SingleUseRecord {
    fileprivate init(row: SQLRow) throws {
        var row = row
        self.init(
            kind: try row.text(), hash: try row.blob(), owner: try row.text(), payload: try row.blob(),
            expiresAt: try row.integer())
    }
}
