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

    /// Marking is a separate, durable write, so that a clock that is set back afterwards revives no session.
    func expireSessions(now: Milliseconds, limit: Int) async throws -> ExpiredSessions {
        let expired = try await write { try $0.expireSessions(dueAt: now, limit: limit) }
        // Repeated while there is more of a kind than one portion, up to a limit. What is left then is not needed, and
        // waits for the next sweep.
        for _ in 0..<Self.forgetRounds {
            guard try await forget(now: now, limit: limit) else { break }
        }
        return expired
    }

    /// The most rows of one kind that one transaction removes. After an outage there may be millions, and removing them
    /// all at once would keep other writers waiting.
    static let removalPortion = 1_000

    /// The most transactions of one sweep.
    static let forgetRounds = 64

    /// Removes records that are no longer needed, a portion of each kind. Returns whether there may be more.
    private func forget(now: Milliseconds, limit: Int) async throws -> Bool {
        let forgetChanges = engine.forgetChanges()
        return try await write { transaction in
            var isMore = try Self.tombstones(now: now, limit: limit).remove(in: transaction)
            if try Self.families(now: now, limit: limit).remove(in: transaction) { isMore = true }
            for (table, end, until) in Self.timed(now: now) {
                let count = try transaction.removeSome(from: table, where: "\(end) <= ?1", [.integer(until)])
                if count >= Self.removalPortion { isMore = true }
            }
            if let forgetChanges { _ = try transaction.execute(forgetChanges.sql, forgetChanges.values) }
            return isMore
        }
    }

    /// The tables whose rows are removed by a time alone: the column with that time, and until when rows go.
    private static func timed(now: Milliseconds) -> [(table: String, end: String, until: Milliseconds)] {
        // An hour after their end, because the clocks of the nodes that still need them may be behind: a record that
        // something has already been done must not be forgotten early. Readers compare the time themselves.
        let longPast = now.subtractingReportingOverflow(Revocation.margin).partialValue
        // Expired by this node's clock; that of another may be a minute behind.
        let past = now.subtractingReportingOverflow(60_000).partialValue
        let unused = now.subtractingReportingOverflow(protocolSessionIdle).partialValue
        return [
            ("revocations", "expires_at", longPast), ("single_use", "expires_at", longPast),
            ("counters", "expires_at", longPast), ("token_reach", "good_until", now),
            ("tickets", "expires_at", past), ("clients", "expires_at", past),
            ("personal_tokens", "expires_at", past), ("protocol_sessions", "last_used_at", unused),
        ]
    }

    private static func tombstones(now: Milliseconds, limit: Int) -> Outdated {
        Outdated(
            table: "sessions", end: "absolute_expires_at", until: now, condition: StoredSessionState.isDeadSQL,
            parts: ["events", "executions", "streams"].map { ($0, "session_id") }, limit: min(limit, tombstoneBatch))
    }

    /// A family of a live session is kept, because disabling its client must find the session by it.
    private static func families(now: Milliseconds, limit: Int) -> Outdated {
        Outdated(
            table: "families", end: "absolute_expires_at", until: now &- familyMargin,
            condition: """
                NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.family_id = families.id
                AND \(StoredSessionState.isLiveSQL))
                """,
            parts: [("refresh_tokens", "family_id")], limit: limit)
    }
}

/// Records that are no longer needed, and that others belong to.
private struct Outdated {
    let table: String
    /// The column with the time until which a record is needed.
    let end: String
    /// Until when records go.
    let until: Milliseconds
    /// What else has to be true of them.
    let condition: String
    /// The tables with what belongs to them, and the column that names the record.
    let parts: [(table: String, column: String)]
    /// The most records that are looked at.
    let limit: Int

    /// Removes a portion of what belongs to the oldest of the records, and those records that have nothing left.
    ///
    /// - Returns: whether there may be more.
    func remove(in transaction: any SQLTransaction) throws -> Bool {
        let values: [SQLValue] = [.integer(until), .limit(limit)]
        let due = "SELECT id FROM \(table) WHERE \(end) <= ?1 AND \(condition) ORDER BY \(end) LIMIT ?2"
        var isMore = false
        for part in parts {
            let count = try transaction.removeSome(from: part.table, where: "\(part.column) IN (\(due))", values)
            if count >= SQLSurface.removalPortion { isMore = true }
        }
        let isEmpty = parts.map { "AND NOT EXISTS (SELECT 1 FROM \($0.table) WHERE \($0.column) = \(table).id)" }
        // The batch is materialised, because PostgreSQL may evaluate LIMIT in a join more than once.
        let count = try transaction.execute(
            """
            WITH due AS MATERIALIZED (\(due)\(transaction.dialect.skipLocked))
            DELETE FROM \(table) WHERE id IN (SELECT id FROM due) \(isEmpty.joined(separator: " "))
            """, values)
        return isMore || count >= max(1, limit)
    }
}

extension SQLTransaction {
    /// Removes rows for which a condition is true, at most ``SQLSurface/removalPortion`` of them. Returns how many.
    func removeSome(from table: String, where condition: String, _ values: [SQLValue]) throws -> Int {
        let some = dialect.someRows(table, condition, "?\(values.count + 1)")
        return try execute("DELETE FROM \(table) WHERE \(some)", values + [.limit(SQLSurface.removalPortion)])
    }
}
