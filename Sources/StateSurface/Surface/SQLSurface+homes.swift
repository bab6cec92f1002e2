/// The statements that mark sessions as expired. A session at home of a live family is found by both: `family_id` of the
/// session, and `binding` of the family.
private enum ExpirySQL {
    private static let isDue = "\(StoredSessionState.isLiveSQL) AND expires_at <= ?1"
    private static let mark = "UPDATE sessions SET state = 'expired', ended_at = expires_at, version = version + 1"
    private static let marked = "RETURNING id, epoch, user_id, tenant_id"

    /// Locks the families at home in the longest due sessions, and returns them with their homes. Those that another
    /// transaction has locked are left to the next sweep. Materialised, because PostgreSQL may evaluate LIMIT in a join
    /// more than once.
    static func homes(_ dialect: SQLDialect) -> String {
        """
        WITH due AS MATERIALIZED (SELECT id, family_id FROM sessions WHERE \(isDue) ORDER BY expires_at LIMIT ?2),
        homes AS MATERIALIZED (SELECT families.id FROM due JOIN families ON families.id = due.family_id
        AND families.binding = due.id AND families.is_live = 1)
        SELECT id, binding FROM families WHERE id IN (SELECT id FROM homes) AND is_live = 1
        ORDER BY binding LIMIT ?3\(dialect.skipLocked)
        """
    }

    static let markHome = "\(mark) WHERE id = ?2 AND family_id = ?3 AND \(isDue) \(marked)"

    /// Marks sessions that are home of no live family.
    static func markOthers(_ dialect: SQLDialect) -> String {
        """
        WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE \(isDue)
        AND NOT EXISTS (SELECT 1 FROM families WHERE families.id = sessions.family_id
        AND families.binding = sessions.id AND families.is_live = 1)
        ORDER BY expires_at LIMIT ?2\(dialect.skipLocked))
        \(mark) WHERE id IN (SELECT id FROM due) AND \(isDue) \(marked)
        """
    }

    /// Whether a session has not been used since it was read, when its time ended then.
    static let isStillDue = "SELECT 1 FROM sessions WHERE id = ?1 AND expires_at <= ?2"

    static let isHome = "SELECT 1 FROM families WHERE id = ?1 AND binding = ?2 AND is_live = 1"
}

// MARK: Inside a transaction
extension SQLTransaction {
    /// Marks sessions as expired whose time is over, and ends the families that are at home in them.
    ///
    /// The families are locked before any session, as everywhere. A home whose family could not be locked stays as it
    /// is, because it must not expire without its family.
    func expireSessions(dueAt now: Milliseconds, limit: Int) throws -> ExpiredSessions {
        var ids: [String] = []
        var families: [String] = []
        let most = min(limit, ExpiredSessions.homePortion)
        for row in try rows(ExpirySQL.homes(dialect), [.integer(now), .limit(limit), .limit(most)]) {
            var row = row
            let family = try row.text()
            let home = try row.text()
            // It may have been used since it was found.
            let marked = try rows(ExpirySQL.markHome, [.integer(now), .text(home), .text(family)])
            guard !marked.isEmpty else { continue }
            ids += try recordExpired(marked, at: now)
            families.append(family)
        }
        if ids.count < limit {
            let others = [SQLValue.integer(now), .limit(limit - ids.count)]
            ids += try recordExpired(rows(ExpirySQL.markOthers(dialect), others), at: now)
        }
        return ExpiredSessions(ids: ids, families: try families.map { try endFamily(ofExpiredHome: $0, at: now) })
    }

    /// - Parameter session: the record, already marked as expired.
    /// - Returns: nil if another writer was faster.
    func expire(session: SessionRecord) throws -> ExpiredSessions? {
        // The family is locked first, as everywhere.
        var home: String?
        if let familyID = session.familyID {
            let values = [SQLValue.text(familyID), .text(session.id)]
            if try row(ExpirySQL.isHome + dialect.forUpdate, values) != nil { home = familyID }
        }
        // A use does not change the version.
        let values = [SQLValue.text(session.id), .integer(session.endedAt ?? session.expiresAt)]
        guard try row(ExpirySQL.isStillDue + dialect.forUpdate, values) != nil, try replace(session: session) else {
            return nil
        }
        guard let home else { return ExpiredSessions(ids: [session.id]) }
        let family = try endFamily(ofExpiredHome: home, at: session.endedAt ?? session.lastSeenAt)
        return ExpiredSessions(ids: [session.id], families: [family])
    }

    private func endFamily(ofExpiredHome id: String, at: Milliseconds) throws -> ExpiredSessions.Family {
        let sessionIDs = try endFamily(id: id, at: at, revokedUntil: Self.revokedUntil(endedAt: at))
        return ExpiredSessions.Family(id: id, sessionIDs: sessionIDs)
    }

    private func recordExpired(_ rows: [SQLRow], at now: Milliseconds) throws -> [String] {
        try rows.map { row in
            var row = row
            let id = try row.text()
            try record(.session(id: id, state: .expired, epoch: try row.integer()))
            let userID = try row.optionalText()
            if userID != nil { try endGrants(in: id, at: now) }
            try recordEvent(
                StoreEvent(
                    .sessionEnded, sessionID: id, tenantID: try row.optionalText(), userID: userID,
                    reason: StoreEvent.EndReason.expired))
            return id
        }
    }
}

// MARK: The role
extension SQLSurface {
    func expire(session record: SessionRecord) async throws -> ExpiredSessions? {
        try await write { try $0.expire(session: record) }
    }
}
