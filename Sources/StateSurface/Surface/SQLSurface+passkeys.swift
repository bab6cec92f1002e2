extension SQLSurface {
    func insert(passkey record: PasskeyRecord, judged: JudgedOwner, limit: Int) async throws -> Bool {
        try await write { transaction in
            // The account is locked, so that concurrent registrations are counted one after the other.
            var account = try transaction.row(
                "SELECT disabled FROM accounts WHERE user_id = ?1\(transaction.dialect.forUpdate)",
                [.text(record.userID)])
            guard try account?.flag() == false else { throw StateSurfaceError.ownerGone }
            try transaction.require(judged, userID: record.userID)
            var counted = try transaction.row(
                "SELECT COUNT(*) FROM passkeys WHERE user_id = ?1", [.text(record.userID)])
            guard try counted?.integer() ?? 0 < Int64(max(0, limit)) else { return false }
            _ = try transaction.execute(
                "INSERT INTO passkeys (\(PasskeyRecord.columns)) VALUES (\(sqlParameters(12)))", record.values)
            return true
        }
    }

    func passkey(credentialID: [UInt8]) async throws -> PasskeyRecord? {
        try await row(
            "SELECT \(PasskeyRecord.columns) FROM passkeys WHERE credential_id = ?1", [.blob(credentialID)]
        ).map(PasskeyRecord.init(row:))
    }

    func passkeys(userID: String) async throws -> [PasskeyRecord] {
        try await rows(
            "SELECT \(PasskeyRecord.columns) FROM passkeys WHERE user_id = ?1 ORDER BY created_at, credential_id",
            [.text(userID)]
        ).map(PasskeyRecord.init(row:))
    }

    /// Changes nothing, and returns false, if the counter is not the one that was checked, because another sign-in was
    /// first.
    func use(passkey use: PasskeyUse) async throws -> Bool {
        try await write { transaction in
            try transaction.execute(
                """
                UPDATE passkeys SET sign_count = ?4, backed_up = ?5, last_used_at = ?6
                WHERE credential_id = ?1 AND user_id = ?2 AND sign_count = ?3
                """,
                [
                    .blob(use.credentialID), .text(use.userID), .integer(use.judgedSignCount),
                    .integer(use.signCount), .flag(use.isBackedUp), .integer(use.at),
                ]) == 1
        }
    }

    func removePasskey(credentialID: [UInt8], userID: String) async throws -> Bool {
        try await write { transaction in
            try transaction.execute(
                "DELETE FROM passkeys WHERE credential_id = ?1 AND user_id = ?2",
                [.blob(credentialID), .text(userID)]) == 1
        }
    }
}

extension PasskeyRecord {
    fileprivate static let columns = """
        credential_id, user_id, name, public_key, algorithm, sign_count, backup_eligible, backed_up, aaguid,
        transports, created_at, last_used_at
        """

    fileprivate var values: [SQLValue] {
        [
            .blob(credentialID), .text(userID), .text(name), .blob(publicKey), .integer(algorithm),
            .integer(signCount), .flag(isBackupEligible), .flag(isBackedUp), .blob(aaguid),
            .text(transports.joined(separator: " ")), .integer(createdAt), .optional(lastUsedAt),
        ]
    }

    fileprivate init(row: SQLRow) throws {
        var row = row
        self.init(
            credentialID: try row.blob(), userID: try row.text(), name: try row.text(), publicKey: try row.blob(),
            algorithm: try row.integer(), signCount: try row.integer(), isBackupEligible: try row.flag(),
            isBackedUp: try row.flag(), aaguid: try row.blob(), transports: try row.scope(),
            createdAt: try row.integer(), lastUsedAt: try row.optionalInteger())
    }
}
