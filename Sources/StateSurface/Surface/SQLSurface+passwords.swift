// MARK: Inside a transaction
extension SQLTransaction {
    func changePassword(_ change: PasswordChange) throws -> [String] {
        try setPassword(change)
        let user = SQLValue.text(change.userID)
        try record(.account(userID: change.userID))
        guard let familyID = change.keptFamilyID else {
            return try endFamilies("user_id = ?1", [user], revokedUntil: change.revokedUntil) { _ in
                try endSessions(
                    userID: change.userID, at: change.at, because: StoreEvent.EndReason.passwordChanged)
            }
        }
        let home = try home(ofLiveFamily: familyID, user)
        return try endFamilies(
            "user_id = ?1 AND id <> ?2", [user, .text(familyID)], revokedUntil: change.revokedUntil
        ) { _ in
            try endSessions(
                userID: change.userID, sparing: (home, change.keptSessionID ?? home), of: familyID, at: change.at)
        }
    }

    /// Writes the password. The account is locked first, because transactions that open a family or session for it lock
    /// this row, too.
    private func setPassword(_ change: PasswordChange) throws {
        var values: [SQLValue] = [.text(change.userID), .text(change.passwordHash)]
        var asJudged = ""
        if let epoch = change.judgedEpoch {
            values.append(.integer(epoch))
            asJudged = "AND credential_epoch = ?3 AND disabled = 0"
        }
        let changed = try execute(
            """
            UPDATE accounts SET password_hash = ?2, credential_epoch = credential_epoch + 1, version = version + 1
            WHERE user_id = ?1 \(asJudged)
            """, values)
        guard changed == 1 else { throw StateSurfaceError.ownerGone }
    }

    /// The home session of the caller's family; empty if it has none.
    private func home(ofLiveFamily id: String, _ user: SQLValue) throws -> String {
        let family = try row(
            "SELECT binding FROM families WHERE id = ?1 AND user_id = ?2 AND is_live = 1\(dialect.forUpdate)",
            [.text(id), user])
        guard var family else { throw StateSurfaceError.ownerGone }
        return try family.optionalText() ?? ""
    }
}

// MARK: The role
extension SQLSurface {
    func changePassword(_ change: PasswordChange) async throws -> [String] {
        try await write { try $0.changePassword(change) }
    }
}
