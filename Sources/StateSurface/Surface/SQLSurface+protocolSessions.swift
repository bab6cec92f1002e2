private enum ProtocolSessionSQL {
    static let columns = "hash, tenant_id, user_id, client_id, family_id, upstream, last_used_at"
    static let byHash = "SELECT \(columns) FROM protocol_sessions WHERE hash = ?1"
}

// MARK: Inside a transaction
extension SQLTransaction {
    func protocolSession(hash: [UInt8]) throws -> ProtocolSessionRecord? {
        try takeTurn(turnName("protocol session", hash))
        return try row(ProtocolSessionSQL.byHash, [.blob(hash)]).map(ProtocolSessionRecord.init(row:))
    }

    func bind(protocolSession record: ProtocolSessionRecord) throws -> Bool {
        if let familyID = record.familyID {
            // Locked, so that an end of the family waits and then removes this session.
            let family = try row(
                "SELECT is_live FROM families WHERE id = ?1\(dialect.forShare)", [.text(familyID)])
            if var family, try !family.flag() { return false }
        }
        _ = try execute(
            """
            INSERT INTO protocol_sessions (\(ProtocolSessionSQL.columns)) VALUES (\(sqlParameters(7)))
            ON CONFLICT DO NOTHING
            """, record.values)
        let bound = try row(ProtocolSessionSQL.byHash, [.blob(record.hash)])
        return try bound.map(ProtocolSessionRecord.init(row:))?.hasSameOwner(as: record) ?? false
    }

    func end(protocolSession session: ProtocolSessionRecord) throws {
        let removed = try execute(
            """
            DELETE FROM protocol_sessions WHERE hash = ?1 AND tenant_id = ?2 AND user_id = ?3 AND client_id = ?4
            AND CAST(?5 AS TEXT) IN ('', upstream)
            """,
            [
                .blob(session.hash), .text(session.tenantID), .text(session.userID), .text(session.clientID),
                .text(session.upstream),
            ])
        if removed > 0 { try record(.protocolSessionEnded(hash: session.hash)) }
    }
}

// MARK: The role
extension SQLSurface {
    func bind(protocolSession record: ProtocolSessionRecord) async throws -> Bool {
        try await write { try $0.bind(protocolSession: record) }
    }

    func protocolSession(hash: [UInt8], since: Milliseconds) async throws -> ProtocolSessionRecord? {
        try await row(ProtocolSessionSQL.byHash + " AND last_used_at > ?2", [.blob(hash), .integer(since)])
            .map(ProtocolSessionRecord.init(row:))
    }

    func touch(protocolSession hash: [UInt8], at: Milliseconds) async throws {
        try await write { transaction in
            try transaction.post(
                "UPDATE protocol_sessions SET last_used_at = ?2 WHERE hash = ?1 AND last_used_at < ?2",
                [.blob(hash), .integer(at)])
        }
    }

    func end(protocolSession record: ProtocolSessionRecord) async throws {
        try await write { try $0.end(protocolSession: record) }
    }
}

extension ProtocolSessionRecord {
    fileprivate init(row: SQLRow) throws {
        var row = row
        self.init(
            hash: try row.blob(), tenantID: try row.text(), userID: try row.text(), clientID: try row.text(),
            familyID: try row.optionalText(), upstream: try row.text(), lastUsedAt: try row.integer())
    }

    fileprivate var values: [SQLValue] {
        [
            .blob(hash), .text(tenantID), .text(userID), .text(clientID), .optional(familyID), .text(upstream),
            .integer(lastUsedAt),
        ]
    }
}
