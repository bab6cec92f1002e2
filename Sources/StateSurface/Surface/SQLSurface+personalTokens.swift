private enum PersonalTokenSQL {
    static let columns = "hash, id, user_id, family_id, name, expires_at"
    private static let qualified = """
        personal_tokens.hash, personal_tokens.id, personal_tokens.user_id, personal_tokens.family_id,
        personal_tokens.name, personal_tokens.expires_at
        """
    private static let joined = """
        SELECT \(qualified), \(FamilyRecord.qualifiedColumns) FROM personal_tokens
        JOIN families ON families.id = personal_tokens.family_id
        """
    static let byHash = "\(joined) WHERE personal_tokens.hash = ?1"
    static let byUser = """
        \(joined) WHERE personal_tokens.user_id = ?1 AND families.is_live = 1
        ORDER BY families.created_at, personal_tokens.id
        """
    static let countLive = """
        SELECT COUNT(*) FROM personal_tokens JOIN families ON families.id = personal_tokens.family_id
        WHERE personal_tokens.user_id = ?1 AND families.is_live = 1 AND personal_tokens.expires_at > ?2
        """
}

extension SQLSurface {
    func insert(
        personalToken record: PersonalTokenRecord, family: FamilyRecord, judged: JudgedOwner, limit: Int
    ) async throws -> Bool {
        try await write { transaction in
            // Otherwise concurrent calls could each count before the others' rows are there.
            try transaction.takeTurn("personal tokens of \(record.userID)")
            try transaction.insert(family: family, judged: judged)
            var counted = try transaction.row(
                PersonalTokenSQL.countLive, [.text(record.userID), .integer(family.createdAt)])
            guard try counted?.integer() ?? 0 < Int64(limit) else {
                _ = try transaction.execute("DELETE FROM families WHERE id = ?1", [.text(family.id)])
                return false
            }
            _ = try transaction.execute(
                "INSERT INTO personal_tokens (\(PersonalTokenSQL.columns)) VALUES (\(sqlParameters(6)))",
                [
                    .blob(record.hash), .text(record.id), .text(record.userID), .text(record.familyID),
                    .text(record.name), .integer(record.expiresAt),
                ])
            return true
        }
    }

    func personalToken(hash: [UInt8]) async throws -> (token: PersonalTokenRecord, family: FamilyRecord)? {
        try await row(PersonalTokenSQL.byHash, [.blob(hash)]).map(Self.personalToken)
    }

    func personalTokens(userID: String) async throws -> [(token: PersonalTokenRecord, family: FamilyRecord)] {
        try await rows(PersonalTokenSQL.byUser, [.text(userID)]).map(Self.personalToken)
    }

    private static func personalToken(
        _ row: SQLRow
    ) throws -> (token: PersonalTokenRecord, family: FamilyRecord) {
        var row = row
        let token = PersonalTokenRecord(
            hash: try row.blob(), id: try row.text(), userID: try row.text(), familyID: try row.text(),
            name: try row.text(), expiresAt: try row.integer())
        return (token, try FamilyRecord(reading: &row))
    }
}
