extension SQLSurface {
    /// The number of events of a session that are kept for replay.
    static let keptEvents: Int64 = 1000
    /// The number of bytes of outcomes, and so of events, that are kept for a session. When there are more, the oldest
    /// are dropped until three quarters are left. The ids of the intents are kept.
    static let keptOutcomeBytes: Int64 = 16 << 20

    private static let executionSQL = """
        SELECT \(ExecutionRecord.columns) FROM executions WHERE session_id = ?1 AND intent_id = ?2
        """

    /// Nil if the intent may run; otherwise the record of its first beginning.
    func begin(execution: ExecutionRecord) async throws -> ExecutionRecord? {
        try await write { transaction in
            let written = try transaction.execute(
                """
                INSERT INTO executions (session_id, intent_id, intent, fingerprint, node_id, epoch, created_at)
                VALUES (\(sqlParameters(7))) ON CONFLICT DO NOTHING
                """, execution.values)
            guard written == 0 else { return nil }
            let key = [SQLValue.text(execution.sessionID), .text(execution.intentID)]
            guard let row = try transaction.row(Self.executionSQL, key) else {
                // Its session was removed between the two statements.
                throw StateSurfaceError(.failed, "the execution was forgotten while it began")
            }
            return try ExecutionRecord(row: row)
        }
    }

    /// Takes the number, stores the outcome and the event, and reports the stream's new end, in one transaction. An
    /// intent that is finished keeps its first event.
    func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord {
        try await write { transaction in
            let key = [SQLValue.text(sessionID), .text(intentID)]
            guard let row = try transaction.row(Self.executionSQL + transaction.dialect.forUpdate, key) else {
                throw StateSurfaceError(.failed, "an execution finished that never began")
            }
            let execution = try ExecutionRecord(row: row)
            if let seq = execution.seq {
                return EventRecord(sessionID: sessionID, seq: seq, payload: execution.outcome ?? payload(seq))
            }
            let (seq, kept) = try Self.nextNumber(of: sessionID, transaction)
            let event = EventRecord(sessionID: sessionID, seq: seq, payload: payload(seq))
            let size = kept + Int64(event.payload.utf8.count)
            try transaction.post(
                "UPDATE streams SET outcome_bytes = ?2 WHERE session_id = ?1", [.text(sessionID), .integer(size)])
            try transaction.post(
                "UPDATE executions SET seq = ?3, outcome = ?4 WHERE session_id = ?1 AND intent_id = ?2",
                key + [.integer(seq), .text(event.payload)])
            try transaction.post(
                "INSERT INTO events (session_id, seq, payload) VALUES (?1, ?2, ?3)",
                [.text(sessionID), .integer(seq), .text(event.payload)])
            if seq > Self.keptEvents, seq.isMultiple(of: 50) {
                _ = try transaction.execute(
                    "DELETE FROM events WHERE session_id = ?1 AND seq <= ?2",
                    [.text(sessionID), .integer(seq - Self.keptEvents)])
            }
            if size > Self.keptOutcomeBytes { try Self.dropOutcomes(of: sessionID, transaction) }
            try transaction.record(.events(sessionID: sessionID, lastSeq: seq))
            return event
        }
    }

    /// Drops the oldest outcomes and their events.
    private static func dropOutcomes(of sessionID: String, _ transaction: any SQLTransaction) throws {
        let size = transaction.dialect.byteCount("outcome")
        let id = SQLValue.text(sessionID)
        var row = try transaction.row(
            """
            SELECT MAX(seq) FROM (SELECT seq, SUM(\(size)) OVER (ORDER BY seq DESC) AS total FROM executions
            WHERE session_id = ?1 AND outcome IS NOT NULL) AS sums WHERE total > ?2
            """, [id, .integer(keptOutcomeBytes / 4 * 3)])
        guard let last = try row?.optionalInteger() else { return }
        _ = try transaction.execute(
            "UPDATE executions SET outcome = NULL WHERE session_id = ?1 AND seq <= ?2 AND outcome IS NOT NULL",
            [id, .integer(last)])
        _ = try transaction.execute(
            "DELETE FROM events WHERE session_id = ?1 AND seq <= ?2", [id, .integer(last)])
        _ = try transaction.execute(
            """
            UPDATE streams SET outcome_bytes = (SELECT COALESCE(SUM(\(size)), 0) FROM executions
            WHERE session_id = ?1 AND outcome IS NOT NULL) WHERE session_id = ?1
            """, [id])
    }

    /// Takes the next sequence number. It locks the session's row of `streams`, so that numbers become visible in
    /// order.
    /// - Returns: the number, and the number of bytes of the outcomes that are kept.
    private static func nextNumber(
        of sessionID: String, _ transaction: any SQLTransaction
    ) throws -> (seq: Int64, kept: Int64) {
        var row = try transaction.row(
            """
            INSERT INTO streams (session_id, last_seq) VALUES (?1, 1)
            ON CONFLICT (session_id) DO UPDATE SET last_seq = streams.last_seq + 1 RETURNING last_seq, outcome_bytes
            """, [.text(sessionID)])
        guard let seq = try row?.integer(), let kept = try row?.integer() else {
            throw StateSurfaceError(.failed, "no sequence number")
        }
        return (seq, kept)
    }

    func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord? {
        try await row(Self.executionSQL, [.text(sessionID), .text(intentID)]).map(ExecutionRecord.init(row:))
    }

    func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord] {
        let living = livingNodes.sorted()
        let others = living.isEmpty ? "" : "AND node_id NOT IN (\(sqlParameters(living.count, from: 2)))"
        return try await rows(
            """
            SELECT \(ExecutionRecord.columns) FROM executions WHERE seq IS NULL \(others)
            ORDER BY created_at LIMIT ?1
            """, [.limit(limit)] + living.map(SQLValue.text)
        ).map(ExecutionRecord.init(row:))
    }

    func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord] {
        try await rows(
            "SELECT \(EventRecord.columns) FROM events WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            [.text(sessionID), .integer(seq), .limit(limit)]
        ).map(EventRecord.init(row:))
    }

    /// (1, 0) for a stream without events.
    func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64) {
        guard
            var row = try await row(
                "SELECT MIN(seq), MAX(seq) FROM events WHERE session_id = ?1", [.text(sessionID)]),
            let first = try row.optionalInteger(), let last = try row.optionalInteger()
        else { return (1, 0) }
        return (first, last)
    }

    /// Nodes that were not seen for a day before the window are removed.
    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String> {
        let since = at.subtractingReportingOverflow(max(0, within)).partialValue
        let seen = try await write { transaction in
            _ = try transaction.execute(
                """
                INSERT INTO nodes (id, seen_at) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET seen_at =
                CASE WHEN excluded.seen_at > nodes.seen_at THEN excluded.seen_at ELSE nodes.seen_at END
                """, [.text(nodeID), .integer(at)])
            let dayAgo = since.subtractingReportingOverflow(86_400_000).partialValue
            _ = try transaction.execute("DELETE FROM nodes WHERE seen_at < ?1", [.integer(dayAgo)])
            return try transaction.rows("SELECT id FROM nodes WHERE seen_at >= ?1", [.integer(since)])
        }
        return try Set(
            seen.map { row in
                var row = row
                return try row.text()
            })
    }
}
