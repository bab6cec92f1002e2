private enum FamilySQL {
    static let rememberToken = "INSERT INTO refresh_tokens (hash, family_id, position) VALUES (?1, ?2, ?3)"
    static let byID = "SELECT \(FamilyRecord.columns) FROM families WHERE id = ?1"
    static let byToken = """
        SELECT \(FamilyRecord.qualifiedColumns), refresh_tokens.position FROM refresh_tokens
        JOIN families ON families.id = refresh_tokens.family_id WHERE refresh_tokens.hash = ?1
        """
    static let byHome = """
        SELECT \(FamilyRecord.columns) FROM families WHERE user_id = ?1 AND binding = ?2 AND is_live = 1
        AND resource IS NULL
        ORDER BY created_at, id
        """
    static let live =
        "SELECT \(FamilyRecord.columns) FROM families WHERE user_id = ?1 AND is_live = 1 ORDER BY created_at, id"
    static let byProviderSession = """
        SELECT \(FamilyRecord.columns) FROM families WHERE provider = ?1 AND provider_session = ?2
        AND provider_session IS NOT NULL AND is_live = 1 ORDER BY created_at, id
        """
    static let rotate = """
        UPDATE families SET current_hash = ?2, previous_hash = ?3, successor_salt = ?4, rotated_at = ?5,
        absolute_expires_at = ?6, counter = ?7, token_expires_at = ?9 WHERE id = ?1 AND is_live = 1 AND counter = ?8
        """
}

// MARK: Inside a transaction
extension SQLTransaction {
    func insert(family: FamilyRecord, judged: JudgedOwner) throws {
        try require(judged, userID: family.userID)
        try insert(required: family)
    }

    /// Inserts a family after ``require(_:userID:)``, and its first refresh token if it has one.
    func insert(required family: FamilyRecord) throws {
        _ = try execute(
            "INSERT INTO families (\(FamilyRecord.columns)) VALUES (\(sqlParameters(20)))", family.values)
        guard !family.currentHash.isEmpty else { return }
        _ = try execute(
            FamilySQL.rememberToken, [.blob(family.currentHash), .text(family.id), .integer(family.counter)])
    }

    /// Locks account, client and the asking family until the transaction ends. Throws if they have changed since they
    /// were checked.
    ///
    /// They are locked in this order, for share in PostgreSQL. SQLite has one writer and needs no locks.
    ///
    /// - Throws: `.ownerGone`, which rolls the transaction back.
    func require(_ judged: JudgedOwner, userID: String) throws {
        let share = dialect.forShare
        if let epoch = judged.credentialEpoch {
            let account = try row(
                "SELECT disabled, credential_epoch FROM accounts WHERE user_id = ?1\(share)", [.text(userID)])
            guard var account, try !account.flag(), try account.integer() == epoch else {
                throw StateSurfaceError.ownerGone
            }
        }
        if let clientID = judged.clientID {
            let client = try row("SELECT disabled FROM clients WHERE client_id = ?1\(share)", [.text(clientID)])
            guard var client, try !client.flag() else { throw StateSurfaceError.ownerGone }
        }
        if let familyID = judged.familyID {
            let family = try row("SELECT is_live FROM families WHERE id = ?1\(share)", [.text(familyID)])
            guard var family, try family.flag() else { throw StateSurfaceError.ownerGone }
        }
    }

    func family(id: String) throws -> FamilyRecord? {
        try row(FamilySQL.byID + dialect.forUpdate, [.text(id)]).map(FamilyRecord.init(row:))
    }

    func families(of userID: String, atHomeIn sessionID: String) throws -> [FamilyRecord] {
        try rows(FamilySQL.byHome + dialect.forUpdate, [.text(userID), .text(sessionID)]).map(FamilyRecord.init(row:))
    }

    /// Writes only the columns that a rotation changes.
    ///
    /// - Returns: false if the family has ended or its counter is not one less than the record's, because another
    ///   rotation was first.
    func rotate(family: FamilyRecord) throws -> Bool {
        let changed = try execute(
            FamilySQL.rotate,
            [
                .text(family.id), .blob(family.currentHash), .optional(family.previousHash),
                .optional(family.successorSalt), .optional(family.rotatedAt), .integer(family.absoluteExpiresAt),
                .integer(family.counter), .integer(family.counter &- 1), .optional(family.tokenExpiresAt),
            ])
        guard changed == 1 else { return false }
        _ = try execute(
            FamilySQL.rememberToken, [.blob(family.currentHash), .text(family.id), .integer(family.counter)])
        if let tokenExpiresAt = family.tokenExpiresAt {
            try record(.familyRefreshed(id: family.id, tokenExpiresAt: tokenExpiresAt, key: family.tokenKey))
        }
        return true
    }

    /// Also reports a token of the same second, because it may have been signed with another key.
    ///
    /// - Returns: whether the family is live. An expiry earlier than the stored one changes nothing.
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) throws -> Bool {
        let changed = try execute(
            """
            UPDATE families SET token_expires_at = ?2 WHERE id = ?1 AND is_live = 1
            AND (token_expires_at IS NULL OR token_expires_at <= ?2)
            """, [.text(familyID), .integer(tokenExpiresAt)])
        guard changed == 1 else {
            return try row("SELECT 1 FROM families WHERE id = ?1 AND is_live = 1", [.text(familyID)]) != nil
        }
        try record(.familyRefreshed(id: familyID, tokenExpiresAt: tokenExpiresAt, key: key))
        return true
    }

    /// Ends a family and its sessions, and revokes its tokens. A family that the store does not know is revoked as
    /// well.
    ///
    /// - Returns: the ids of the sessions that were ended.
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) throws -> [String] {
        let ended = try execute("UPDATE families SET is_live = 0 WHERE id = ?1 AND is_live = 1", [.text(id)])
        let isKnownDead = try ended == 0 && row("SELECT 1 FROM families WHERE id = ?1", [.text(id)]) != nil
        let sessions = try endSessions(familyID: id, at: at)
        // No token is issued for an ended family, so its first revocation covers all of them. A client that repeats an
        // old refresh token must not cause writes and reports on every node.
        if isKnownDead { return sessions }
        try forgetProtocolSessions(familyID: id)
        try revoke(Revocation(kind: .family, id: id, expiresAt: revokedUntil))
        try record(.familyEnded(id: id))
        return sessions
    }

    /// Ends live families and the sessions that `sessions` ends for them, and revokes their tokens.
    ///
    /// The sessions are reported before the families, so that a socket is closed because its session ended and not
    /// because its token was revoked.
    /// - Returns: what `sessions` returned.
    func endFamilies(
        _ condition: String, _ values: [SQLValue], revokedUntil: Milliseconds,
        with sessions: (_ familyIDs: [String]) throws -> [String]
    ) throws -> [String] {
        let families = try rows(
            "UPDATE families SET is_live = 0 WHERE is_live = 1 AND \(condition) RETURNING id", values
        ).map { row in
            var row = row
            return try row.text()
        }
        let ended = try sessions(families)
        for id in families {
            try forgetProtocolSessions(familyID: id)
            try revoke(Revocation(kind: .family, id: id, expiresAt: revokedUntil))
            try record(.familyEnded(id: id))
        }
        return ended
    }
}

// MARK: The role
extension SQLSurface {
    func insert(family: FamilyRecord, judged: JudgedOwner) async throws {
        try await write { try $0.insert(family: family, judged: judged) }
    }

    func family(id: String) async throws -> FamilyRecord? {
        try await row(FamilySQL.byID, [.text(id)]).map(FamilyRecord.init(row:))
    }

    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)? {
        guard var row = try await row(FamilySQL.byToken, [.blob(tokenHash)]) else { return nil }
        let family = try FamilyRecord(reading: &row)
        return (family, try row.integer())
    }

    func rotate(family record: FamilyRecord) async throws -> Bool {
        try await write { try $0.rotate(family: record) }
    }

    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool {
        try await write { try $0.extend(familyID: familyID, tokenExpiresAt: tokenExpiresAt, key: key) }
    }

    func report(extensionOf sessionID: String, origin: String, tokenExpiresAt: Milliseconds) async throws {
        try await write { transaction in
            try transaction.record(.sessionExtended(id: sessionID, origin: origin, tokenExpiresAt: tokenExpiresAt))
        }
    }

    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        try await write { try $0.endFamily(id: id, at: at, revokedUntil: revokedUntil) }
    }

    func endReusedFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        try await write { transaction in
            if transaction.events != nil, let family = try transaction.family(id: id), family.isLive {
                transaction.setEndReason(StoreEvent.EndReason.reused)
                try transaction.recordEvent(
                    StoreEvent(
                        .tokenReused, tenantID: family.tenantID, userID: family.userID,
                        reason: StoreEvent.EndReason.reused))
            }
            return try transaction.endFamily(id: id, at: at, revokedUntil: revokedUntil)
        }
    }

    func liveFamilies(userID: String) async throws -> [FamilyRecord] {
        try await rows(FamilySQL.live, [.text(userID)]).map(FamilyRecord.init(row:))
    }

    func liveFamilies(provider: String, providerSession: String) async throws -> [FamilyRecord] {
        try await rows(FamilySQL.byProviderSession, [.text(provider), .text(providerSession)])
            .map(FamilyRecord.init(row:))
    }
}
