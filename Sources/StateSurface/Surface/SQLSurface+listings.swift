/// The statements of the lists. The plus signs keep the planner from the index by expiry, which would sort everything.
private enum ListingSQL {
    private static let columns = """
        SELECT sessions.id, sessions.state, sessions.tenant_id, sessions.user_id, accounts.email, sessions.created_at,
        sessions.last_seen_at, sessions.expires_at FROM sessions
        LEFT JOIN accounts ON accounts.user_id = sessions.user_id
        """
    private static let page = """
        sessions.id > ?1 AND \(StoredSessionState.isLiveSQL) AND +sessions.expires_at > ?2
        ORDER BY sessions.id LIMIT ?3
        """
    static let all = "\(columns) WHERE \(page)"
    static let ofUser = "\(columns) WHERE sessions.user_id = ?4 AND \(page)"
    static let grantingUsers = """
        SELECT user_id FROM (
        SELECT DISTINCT user_id FROM families WHERE resource IS NOT NULL AND is_live = 1 AND user_id > ?1
        ORDER BY user_id LIMIT ?2) AS granting
        UNION SELECT user_id FROM (
        SELECT DISTINCT user_id FROM consents WHERE user_id > ?1 ORDER BY user_id LIMIT ?2) AS consenting
        ORDER BY user_id LIMIT ?2
        """
}

extension SQLSurface {
    /// In the order of the ids; `id` is the last one of the page before, empty for the first page.
    func liveSessions(
        after id: String, userID: String?, now: Milliseconds, limit: Int
    ) async throws -> [SessionListing] {
        let page = [SQLValue.text(id), .integer(now), .limit(limit)]
        let rows =
            if let userID {
                try await rows(ListingSQL.ofUser, page + [.text(userID)])
            } else {
                try await rows(ListingSQL.all, page)
            }
        return try rows.map(SessionListing.init(row:))
    }

    func grantingUsers(after userID: String, limit: Int) async throws -> [String] {
        try await rows(ListingSQL.grantingUsers, [.text(userID), .limit(limit)]).map { row in
            var row = row
            return try row.text()
        }
    }
}

extension SessionListing {
    fileprivate init(row: SQLRow) throws {
        var row = row
        self.init(
            id: try row.text(), state: try row.word(StoredSessionState.self), tenantID: try row.optionalText(),
            userID: try row.optionalText(), email: try row.optionalText(), createdAt: try row.integer(),
            lastSeenAt: try row.integer(), expiresAt: try row.integer())
    }
}
