extension SQLSurface {
    /// The time in milliseconds for which a family's row is kept after its end, because tokens are accepted slightly
    /// longer than their `exp`.
    static let familyMargin: Milliseconds = 120_000

    /// How long in milliseconds a protocol session is kept without use: 30 days, and the day that its last use may be
    /// behind.
    private static let protocolSessionIdle: Milliseconds = 31 * 86_400_000

    /// The number of tombstones removed at once; each may have a thousand events.
    private static let tombstoneBatch = 50

    func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws {
        // Sorted, so that nodes lock the rows in the same order.
        let sorted = sessions.filter { !SQLValue.text($0.id).holdsNUL }.sorted { $0.id < $1.id }
        var start = 0
        while start < sorted.count {
            let chunk = Array(sorted[start..<min(start + 100, sorted.count)])
            start += chunk.count
            try await write { transaction in
                _ = try transaction.execute(
                    Self.touchSQL(chunk.count), chunk.flatMap { [.text($0.id), .integer($0.lastSeenAt)] })
            }
        }
    }

    /// The statement for `count` sessions. In both databases the columns of VALUES are named `column1` and `column2`.
    private static func touchSQL(_ count: Int) -> String {
        let values = (0..<count).map { "(CAST(?\($0 * 2 + 1) AS TEXT), CAST(?\($0 * 2 + 2) AS BIGINT))" }
        return """
            UPDATE sessions SET last_seen_at = seen.column2, expires_at = CASE
            WHEN seen.column2 > absolute_expires_at - idle_timeout THEN absolute_expires_at
            ELSE seen.column2 + idle_timeout END
            FROM (VALUES \(values.joined(separator: ", "))) AS seen
            WHERE sessions.id = seen.column1 AND last_seen_at < seen.column2
            AND absolute_expires_at > seen.column2 AND \(StoredSessionState.isLiveSQL)
            """
    }

    /// The batch is materialised, because PostgreSQL may evaluate LIMIT in a join more than once.
    ///
    /// Marking is a separate, durable write, so that a clock that is set back afterwards revives no session.
    func expireSessions(now: Milliseconds, limit: Int) async throws -> [String] {
        let expired = try await write { transaction in
            let rows = try transaction.rows(
                """
                WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE \(StoredSessionState.isLiveSQL)
                AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2\(transaction.dialect.skipLocked))
                UPDATE sessions SET state = 'expired', ended_at = expires_at, version = version + 1
                WHERE id IN (SELECT id FROM due) AND \(StoredSessionState.isLiveSQL) AND expires_at <= ?1
                RETURNING id, epoch, user_id, tenant_id
                """, [.integer(now), .limit(limit)])
            return try rows.map { row in
                var row = row
                let id = try row.text()
                try transaction.record(.session(id: id, state: .expired, epoch: try row.integer()))
                let userID = try row.optionalText()
                if userID != nil { try transaction.endGrants(in: id, at: now) }
                try transaction.tell(
                    StoreEvent(
                        .sessionEnded, sessionID: id, tenantID: try row.optionalText(), userID: userID,
                        reason: StoreEvent.EndReason.expired))
                return id
            }
        }
        // Repeated while there are full batches, up to a limit: the rest has its turn at the next call.
        for _ in 0..<Self.forgetRounds {
            guard try await forget(now: now, limit: limit) else { break }
        }
        return expired
    }

    private static let forgetRounds = 64

    /// Removes records that are no longer needed. Returns whether there may be more.
    private func forget(now: Milliseconds, limit: Int) async throws -> Bool {
        let tombstones = min(limit, Self.tombstoneBatch)
        return try await write { transaction in
            try Self.forgetTombstones(now: now, limit: tombstones, transaction)
            let skip = transaction.dialect.skipLocked
            // A family of a live session is kept, because disabling its client must find the session by it.
            let families = try transaction.rows(
                """
                WITH due AS MATERIALIZED (SELECT id FROM families WHERE absolute_expires_at <= ?1
                AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.family_id = families.id
                AND \(StoredSessionState.isLiveSQL)) LIMIT ?2\(skip)) DELETE FROM families WHERE id IN (SELECT id FROM due) RETURNING id
                """, [.integer(now &- Self.familyMargin), .limit(limit)])
            for row in families {
                var row = row
                _ = try transaction.execute(
                    "DELETE FROM refresh_tokens WHERE family_id = ?1", [.text(try row.text())])
            }
            let isFull = try Self.forgetPast(now: now, transaction)
            if let sql = transaction.dialect.forgetChanges { _ = try transaction.execute(sql, []) }
            return isFull || families.count >= max(1, limit)
        }
    }

    /// The most rows of a table that are removed at once. After an hour without a gateway there may be hundreds of
    /// thousands, and other writes wait meanwhile.
    static let portion = 2_000

    /// Removes a portion of the rows of each table whose rows are just removed when their time is over.
    ///
    /// - Returns: whether there may be more of any.
    private static func forgetPast(now: Milliseconds, _ transaction: any SQLTransaction) throws -> Bool {
        // An hour after their end, because the clocks of the nodes that still need them may be behind: what says that
        // something was done before is not forgotten early. Those who read them compare the time themselves.
        let longPast = now.subtractingReportingOverflow(Revocation.margin).partialValue
        // Expired by this node's clock; that of another may be a minute behind.
        let past = now.subtractingReportingOverflow(60_000).partialValue
        let unused = now.subtractingReportingOverflow(protocolSessionIdle).partialValue
        let ends = [
            ("revocations", "expires_at", longPast), ("single_use", "expires_at", longPast),
            ("counters", "expires_at", longPast), ("token_reach", "good_until", now), ("tickets", "expires_at", past),
            ("clients", "expires_at", past), ("personal_tokens", "expires_at", past),
            ("protocol_sessions", "last_used_at", unused),
        ]
        var isFull = false
        for (table, column, end) in ends {
            let removed = try transaction.execute(
                transaction.dialect.removeSome(table, column), [.integer(end), .limit(portion)])
            if removed >= portion { isFull = true }
        }
        return isFull
    }

    private static func forgetTombstones(
        now: Milliseconds, limit: Int, _ transaction: any SQLTransaction
    ) throws {
        let rows = try transaction.rows(
            """
            WITH due AS MATERIALIZED (SELECT id FROM sessions WHERE \(StoredSessionState.isDeadSQL)
            AND absolute_expires_at <= ?1 LIMIT ?2\(transaction.dialect.skipLocked))
            DELETE FROM sessions WHERE id IN (SELECT id FROM due) RETURNING id
            """, [.integer(now), .integer(Int64(max(0, limit)))])
        for row in rows {
            var row = row
            let id = SQLValue.text(try row.text())
            for table in ["events", "executions", "streams"] {
                _ = try transaction.execute("DELETE FROM \(table) WHERE session_id = ?1", [id])
            }
        }
    }
}
