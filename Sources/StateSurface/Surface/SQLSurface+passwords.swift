extension SQLSurface {
    func changePassword(_ change: PasswordChange) async throws -> [String] {
        try await write { transaction in
            try Self.setPassword(change, transaction)
            let user = SQLValue.text(change.userID)
            try transaction.record(.account(userID: change.userID))
            guard let familyID = change.keptFamilyID else {
                return try Self.endFamilies("user_id = ?1", [user], revokedUntil: change.revokedUntil, transaction) {
                    _ in
                    try Self.endSessions(userID: change.userID, at: change.at, transaction)
                }
            }
            let home = try Self.home(ofLiveFamily: familyID, user, transaction)
            return try Self.endFamilies(
                "user_id = ?1 AND id <> ?2", [user, .text(familyID)], revokedUntil: change.revokedUntil, transaction
            ) { _ in
                try Self.endSessions(
                    userID: change.userID, sparing: (home, change.keptSessionID ?? home), of: familyID, at: change.at,
                    transaction)
            }
        }
    }

    /// The account first: whoever opens a family or a session for it waits on this row, or is waited for.
    private static func setPassword(_ change: PasswordChange, _ transaction: any SQLTransaction) throws {
        var values: [SQLValue] = [.text(change.userID), .text(change.passwordHash)]
        var asJudged = ""
        if let epoch = change.judgedEpoch {
            values.append(.integer(epoch))
            asJudged = "AND credential_epoch = ?3 AND disabled = 0"
        }
        let changed = try transaction.execute(
            """
            UPDATE accounts SET password_hash = ?2, credential_epoch = credential_epoch + 1, version = version + 1
            WHERE user_id = ?1 \(asJudged)
            """, values)
        guard changed == 1 else { throw StateSurfaceError.ownerGone }
    }

    /// The session that the caller's family is at home in, empty where it has none.
    private static func home(
        ofLiveFamily id: String, _ user: SQLValue, _ transaction: any SQLTransaction
    ) throws -> String {
        let row = try transaction.row(
            """
            SELECT binding FROM families WHERE id = ?1 AND user_id = ?2 AND is_live = 1\(transaction.dialect.forUpdate)
            """, [.text(id), user])
        guard var row else { throw StateSurfaceError.ownerGone }
        return try row.optionalText() ?? ""
    }

    // MARK: Sessions beyond what a user may have

    /// How many are told at once.
    private static let surplusBatch = 64

    func surplusSessions(userID: String, sparing: String, limit: Int) async throws -> [SurplusSession] {
        var counted = try await row(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM sessions WHERE user_id = ?1 AND \(StoredSessionState.isLiveSQL)
            LIMIT ?2) AS live
            """, [.text(userID), self.limit(limit + Self.surplusBatch)])
        let surplus = Int(clamping: try counted?.integer() ?? 0) - limit
        guard surplus > 0 else { return [] }
        return try await rows(
            """
            SELECT sessions.id, families.id FROM sessions LEFT JOIN families ON families.id = sessions.family_id
            AND families.is_live = 1 AND families.binding = sessions.id
            WHERE sessions.user_id = ?1 AND sessions.id <> ?2 AND \(StoredSessionState.isLiveSQL)
            ORDER BY CASE WHEN families.id IS NULL THEN 0 ELSE 1 END, sessions.last_seen_at, sessions.id LIMIT ?3
            """, [.text(userID), .text(sparing), self.limit(surplus)]
        ).map { row in
            var row = row
            return SurplusSession(id: try row.text(), homeOf: try row.optionalText())
        }
    }

    // MARK: Secrets that nodes have in common

    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8] {
        try await write { transaction in
            _ = try transaction.execute(
                "INSERT INTO secrets (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [.text(name), .blob(candidate)])
            guard var row = try transaction.row("SELECT value FROM secrets WHERE name = ?1", [.text(name)]) else {
                throw StateSurfaceError(.corrupt, "a secret that was just kept is not there")
            }
            return try row.blob()
        }
    }
}
