/// The statements that find the sessions a user has too many of.
private enum SurplusSQL {
    static let countLive = """
        SELECT COUNT(*) FROM (SELECT 1 FROM sessions WHERE user_id = ?1 AND \(StoredSessionState.isLiveSQL)
        LIMIT ?2) AS live
        """
    static let surplus = """
        SELECT sessions.id, families.id FROM sessions LEFT JOIN families ON families.id = sessions.family_id
        AND families.is_live = 1 AND families.binding = sessions.id
        WHERE sessions.user_id = ?1 AND sessions.id <> ?2 AND \(StoredSessionState.isLiveSQL)
        ORDER BY CASE WHEN families.id IS NULL THEN 0 ELSE 1 END, sessions.last_seen_at, sessions.id LIMIT ?3
        """

    /// The number of surplus sessions returned at once, so that the time does not grow with them.
    static let batch = 64

    /// With fewer free places than this, a user's sessions are opened one after the other. It is more than a user opens
    /// at the same moment.
    static let turnMargin = 64
}

extension SurplusSession {
    fileprivate init(row: SQLRow) throws {
        var row = row
        self.init(id: try row.text(), homeOf: try row.optionalText())
    }

    fileprivate static func count(_ rows: [SQLRow], beyond limit: Int) throws -> Int {
        var row = rows.first
        return Int(clamping: try row?.integer() ?? 0) - limit
    }
}

// MARK: Inside a transaction
extension SQLTransaction {
    func takeTurnToOpenSession(of userID: String, limit: Int) throws {
        guard let turn = dialect.takeTurn else { return }
        // One statement whose answer is not waited for: the lock is taken only if the count is near the limit.
        let sql = """
            \(turn) FROM (SELECT COUNT(*) AS number FROM (SELECT 1 FROM sessions WHERE user_id = ?2
            AND \(StoredSessionState.isLiveSQL) LIMIT ?3) AS live) AS counted WHERE number >= ?4
            """
        let few = max(0, limit - SurplusSQL.turnMargin)
        try post(sql, [.text("sessions of \(userID)"), .text(userID), .limit(max(1, few)), .integer(Int64(few))])
    }

    func surplusSessions(userID: String, sparing: String, limit: Int) throws -> [SurplusSession] {
        let counted = try rows(SurplusSQL.countLive, [.text(userID), .limit(limit + SurplusSQL.batch)])
        let surplus = try SurplusSession.count(counted, beyond: limit)
        guard surplus > 0 else { return [] }
        return try rows(SurplusSQL.surplus, [.text(userID), .text(sparing), .limit(surplus)])
            .map(SurplusSession.init(row:))
    }
}
