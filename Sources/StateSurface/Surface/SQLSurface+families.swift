extension SQLSurface {
    private static let rememberTokenSQL =
        "INSERT INTO refresh_tokens (hash, family_id, position) VALUES (?1, ?2, ?3)"
    private static let byTokenSQL = """
        SELECT \(FamilyRecord.qualifiedColumns), refresh_tokens.position FROM refresh_tokens
        JOIN families ON families.id = refresh_tokens.family_id WHERE refresh_tokens.hash = ?1
        """

    func insert(family: FamilyRecord, judged: JudgedOwner) async throws {
        try await write { transaction in
            try Self.require(judged, userID: family.userID, transaction)
            _ = try transaction.execute(
                "INSERT INTO families (\(FamilyRecord.columns)) VALUES (\(Self.parameters(15)))", family.values)
            guard !family.currentHash.isEmpty else { return }
            _ = try transaction.execute(
                Self.rememberTokenSQL, [.blob(family.currentHash), .text(family.id), .integer(family.counter)])
        }
    }

    /// Keeps account and client as they are until the transaction is over, if they are still as they were judged.
    private static func require(
        _ judged: JudgedOwner, userID: String, _ transaction: any SQLTransaction
    ) throws {
        let share = transaction.dialect.forShare
        if let epoch = judged.credentialEpoch {
            let row = try transaction.row(
                "SELECT disabled, credential_epoch FROM accounts WHERE user_id = ?1\(share)", [.text(userID)])
            guard var row, try !row.flag(), try row.integer() == epoch else { throw StateSurfaceError.ownerGone }
        }
        if let clientID = judged.clientID {
            let row = try transaction.row(
                "SELECT disabled FROM clients WHERE client_id = ?1\(share)", [.text(clientID)])
            guard var row, try !row.flag() else { throw StateSurfaceError.ownerGone }
        }
    }

    /// Ends live families, with the sessions that `sessions` ends for them, and revokes their tokens.
    ///
    /// The sessions are told of before the families: a socket whose session has ended says so, and not that its token was
    /// revoked.
    /// - Returns: what `sessions` returned.
    static func endFamilies(
        _ condition: String, _ values: [SQLValue], revokedUntil: Milliseconds, _ transaction: any SQLTransaction,
        with sessions: (_ familyIDs: [String]) throws -> [String]
    ) throws -> [String] {
        let families = try transaction.rows(
            "UPDATE families SET is_live = 0 WHERE is_live = 1 AND \(condition) RETURNING id", values
        ).map { row in
            var row = row
            return try row.text()
        }
        let ended = try sessions(families)
        for id in families {
            try revoke(Revocation(kind: .family, id: id, expiresAt: revokedUntil), transaction)
            try transaction.record(.familyEnded(id: id))
        }
        return ended
    }

    func family(id: String) async throws -> FamilyRecord? {
        try await row("SELECT \(FamilyRecord.columns) FROM families WHERE id = ?1", [.text(id)])
            .map(FamilyRecord.init(row:))
    }

    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)? {
        guard var row = try await row(Self.byTokenSQL, [.blob(tokenHash)]) else { return nil }
        let family = try FamilyRecord(reading: &row)
        return (family, try row.integer())
    }

    /// Writes what a rotation changes and nothing else: the binding may have moved since the record was read.
    func rotate(family record: FamilyRecord) async throws -> Bool {
        try await write { transaction in
            let changed = try transaction.execute(
                """
                UPDATE families SET current_hash = ?2, previous_hash = ?3, successor_salt = ?4, rotated_at = ?5,
                absolute_expires_at = ?6, counter = ?7, token_expires_at = ?9 WHERE id = ?1 AND is_live = 1 AND counter = ?8
                """,
                [
                    .text(record.id), .blob(record.currentHash), .optional(record.previousHash),
                    .optional(record.successorSalt), .optional(record.rotatedAt),
                    .integer(record.absoluteExpiresAt), .integer(record.counter), .integer(record.counter &- 1),
                    .optional(record.tokenExpiresAt),
                ])
            guard changed == 1 else { return false }
            _ = try transaction.execute(
                Self.rememberTokenSQL, [.blob(record.currentHash), .text(record.id), .integer(record.counter)])
            if let tokenExpiresAt = record.tokenExpiresAt {
                try transaction.record(
                    .familyRefreshed(id: record.id, tokenExpiresAt: tokenExpiresAt, key: record.tokenKey))
            }
            return true
        }
    }

    /// A token of the same second may have been signed with another key, which is worth telling as well.
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool {
        try await write { transaction in
            let changed = try transaction.execute(
                """
                UPDATE families SET token_expires_at = ?2 WHERE id = ?1 AND is_live = 1
                AND (token_expires_at IS NULL OR token_expires_at <= ?2)
                """, [.text(familyID), .integer(tokenExpiresAt)])
            guard changed == 1 else {
                return try transaction.row(
                    "SELECT 1 FROM families WHERE id = ?1 AND is_live = 1", [.text(familyID)]) != nil
            }
            try transaction.record(.familyRefreshed(id: familyID, tokenExpiresAt: tokenExpiresAt, key: key))
            return true
        }
    }

    func bind(familyID: String, to binding: String) async throws {
        try await write { transaction in
            _ = try transaction.execute(
                "UPDATE families SET binding = ?2 WHERE id = ?1 AND is_live = 1", [.text(familyID), .text(binding)])
        }
    }

    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        try await write { transaction in
            let ended = try transaction.execute(
                "UPDATE families SET is_live = 0 WHERE id = ?1 AND is_live = 1", [.text(id)])
            let isKnownDead =
                try ended == 0 && transaction.row("SELECT 1 FROM families WHERE id = ?1", [.text(id)]) != nil
            let sessions = try Self.endSessions(familyID: id, at: at, transaction)
            // No token is issued for a dead family, so its first revocation covers all of them. Whoever replays a
            // dead refresh token over and over must not make every node write and listen.
            if isKnownDead { return sessions }
            try Self.revoke(Revocation(kind: .family, id: id, expiresAt: revokedUntil), transaction)
            try transaction.record(.familyEnded(id: id))
            return sessions
        }
    }

    func liveFamilies(userID: String) async throws -> [FamilyRecord] {
        try await rows(
            "SELECT \(FamilyRecord.columns) FROM families WHERE user_id = ?1 AND is_live = 1 ORDER BY created_at, id",
            [.text(userID)]
        ).map(FamilyRecord.init(row:))
    }

    // MARK: Revocations

    func revoke(_ revocation: Revocation) async throws {
        try await write { try Self.revoke(revocation, $0) }
    }

    func revocations(now: Milliseconds) async throws -> [Revocation] {
        try await rows(
            "SELECT \(Revocation.columns) FROM revocations WHERE expires_at > ?1", [.integer(now)]
        ).map(Revocation.init(row:))
    }

    /// What ends many tokens lasts as long as the last token that any node may have made: whoever revokes knows its own
    /// tokens only.
    private static let wholeReach = """
        CASE WHEN ?5 < (SELECT COALESCE(MAX(good_until), 0) FROM token_reach)
        THEN (SELECT MAX(good_until) FROM token_reach) ELSE ?5 END
        """

    /// A revocation only ever grows.
    static func revoke(_ revocation: Revocation, _ transaction: any SQLTransaction) throws {
        // Of a single token it is known when it ends.
        let expiresAt = revocation.kind == .token ? "?5" : wholeReach
        let row = try transaction.row(
            """
            INSERT INTO revocations (\(Revocation.columns)) VALUES (?1, ?2, ?3, ?4, \(expiresAt))
            ON CONFLICT (kind, id) DO UPDATE SET
            issued_until = CASE WHEN excluded.issued_until > revocations.issued_until
            THEN excluded.issued_until ELSE revocations.issued_until END,
            account_version = CASE WHEN revocations.account_version IS NULL
            OR excluded.account_version > revocations.account_version
            THEN excluded.account_version ELSE revocations.account_version END,
            expires_at = CASE WHEN excluded.expires_at > revocations.expires_at
            THEN excluded.expires_at ELSE revocations.expires_at END
            RETURNING \(Revocation.columns)
            """, revocation.values)
        try transaction.record(.revoked(row.map(Revocation.init(row:)) ?? revocation))
    }
}
