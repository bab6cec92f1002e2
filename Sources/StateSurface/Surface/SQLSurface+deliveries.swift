private enum DeliverySQL {
    static func waiting(for receiver: String) -> String {
        "FROM deliveries WHERE receiver = \(receiver) AND buried_at IS NULL"
    }

    /// Whether the receiver ?2, for whom ?9 may wait, has room. One row of an index answers that as long as what the
    /// delivering node has said holds. The branches of CASE are taken in their order, so what waits is counted only
    /// then.
    static let hasRoom: String = {
        let waiting = DeliverySQL.waiting(for: "CAST(?2 AS TEXT)")
        let room = "FROM delivery_rooms WHERE receiver = CAST(?2 AS TEXT)"
        return """
            CASE WHEN EXISTS (SELECT 1 \(room) AND is_full = 1) THEN 0
            WHEN COALESCE((SELECT MAX(sequence) \(waiting)), 0) < COALESCE((SELECT open_until \(room)), 0) THEN 1
            WHEN (SELECT COUNT(*) FROM (SELECT 1 \(waiting) LIMIT ?9) AS waiting) < CAST(?9 AS BIGINT) THEN 1
            ELSE 0 END = 1
            """
    }()
}

extension SQLSurface {
    /// All deliveries are stored in one transaction. What waits is counted once for each receiver.
    func enqueue(deliveries: [DeliveryRecord], limit: Int) async throws -> Int {
        guard !deliveries.isEmpty else { return 0 }
        return try await write { transaction in
            var room: [String: Int64] = [:]
            var refused = 0
            for delivery in deliveries {
                let left = try room[delivery.receiver] ?? transaction.room(for: delivery.receiver, limit: limit)
                guard left > 0 else {
                    room[delivery.receiver] = 0
                    refused += 1
                    continue
                }
                room[delivery.receiver] = left - Int64(try transaction.append(delivery))
            }
            return refused
        }
    }

    func deliveries(receiver: String, limit: Int) async throws -> [DeliveryRecord] {
        try await rows(
            """
            SELECT \(DeliveryRecord.columns) FROM deliveries WHERE receiver = ?1 AND buried_at IS NULL
            ORDER BY sequence LIMIT ?2
            """, [.text(receiver), .limit(limit)]
        ).map { row in
            var row = row
            return try DeliveryRecord(row: &row)
        }
    }

    /// Counts no further than `limit`.
    func waitingDeliveries(receiver: String, limit: Int) async throws -> Int {
        var row = try await row(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE receiver = ?1 AND buried_at IS NULL LIMIT ?2) AS waiting
            """, [.text(receiver), .limit(limit)])
        return Int(clamping: try row?.integer() ?? 0)
    }

    /// 0 if nothing waits.
    func newestDelivery() async throws -> Int64 {
        var row = try await row("SELECT COALESCE(MAX(sequence), 0) FROM deliveries WHERE buried_at IS NULL", [])
        return try row?.integer() ?? 0
    }

    /// In one transaction; an id that is no longer there is passed over.
    func settle(deliveries: [DeliverySettlement]) async throws {
        guard !deliveries.isEmpty else { return }
        try await write { transaction in
            for settlement in deliveries { try transaction.settle(settlement) }
        }
    }

    func sweepDeliveries(
        createdUntil: Milliseconds, deadLetteredUntil: Milliseconds, at: Milliseconds
    ) async throws -> Int {
        var total = 0
        // As in `expireSessions`: what is left after the last round waits for the next sweep.
        for _ in 0..<Self.forgetRounds {
            let (deadLettered, isMore) = try await write { transaction in
                let removed = try transaction.removeSome(
                    from: "deliveries", where: "buried_at <= ?1", [.integer(deadLetteredUntil)])
                let due = transaction.dialect.someRows("deliveries", "buried_at IS NULL AND created_at <= ?1", "?3")
                let deadLettered = try transaction.execute(
                    "UPDATE deliveries SET buried_at = ?2, verdict = 'expired' WHERE \(due)",
                    [.integer(createdUntil), .integer(at), .limit(Self.removalPortion)])
                return (deadLettered, max(deadLettered, removed) >= Self.removalPortion)
            }
            total += deadLettered
            if !isMore { break }
        }
        return total
    }

    func deadDeliveries(limit: Int) async throws -> [(delivery: DeliveryRecord, reason: String)] {
        try await rows(
            """
            SELECT \(DeliveryRecord.columns), verdict FROM deliveries WHERE buried_at IS NOT NULL
            ORDER BY buried_at DESC, sequence DESC LIMIT ?1
            """, [.limit(limit)]
        ).map { row in
            var row = row
            return (delivery: try DeliveryRecord(row: &row), reason: try row.optionalText() ?? "")
        }
    }

    // MARK: The node that delivers

    /// One row for all nodes: its holder extends it, and another takes it once it has expired, by the caller's clock.
    func leaseDeliveries(nodeID: String, now: Milliseconds, until: Milliseconds) async throws -> Bool {
        try await write { transaction in
            try transaction.execute(
                """
                INSERT INTO delivery_lease (name, node_id, expires_at) VALUES ('deliveries', ?1, ?3)
                ON CONFLICT (name) DO UPDATE SET node_id = excluded.node_id, expires_at = excluded.expires_at
                WHERE delivery_lease.node_id = excluded.node_id OR delivery_lease.expires_at <= ?2
                """, [.text(nodeID), .integer(now), .integer(until)]) == 1
        }
    }

    /// Also forgets what the node said of the receivers' room, which would be outdated until another node delivers.
    func releaseDeliveries(nodeID: String) async throws {
        try await write { transaction in
            let released = try transaction.execute("DELETE FROM delivery_lease WHERE node_id = ?1", [.text(nodeID)])
            if released > 0 { try transaction.post("DELETE FROM delivery_rooms", []) }
        }
    }

    /// Replaces what was said of all receivers; nothing if the node no longer has the lease.
    func set(deliveryRooms rooms: [DeliveryRoom], by nodeID: String) async throws {
        try await write { transaction in
            guard try transaction.row("SELECT 1 FROM delivery_lease WHERE node_id = ?1", [.text(nodeID)]) != nil else {
                return
            }
            try transaction.post("DELETE FROM delivery_rooms", [])
            for room in rooms {
                try transaction.post(
                    """
                    INSERT INTO delivery_rooms (receiver, open_until, is_full) VALUES (?1, ?2, ?3)
                    ON CONFLICT (receiver) DO UPDATE SET open_until = excluded.open_until, is_full = excluded.is_full
                    """, [.text(room.receiver), .integer(room.openUntil), .integer(room.isFull ? 1 : 0)])
            }
        }
    }
}

extension SQLTransaction {
    func setEndReason(_ reason: String?) { events?.reason = reason }

    /// Stores the deliveries of an event in this transaction, as many as there is room for. Does not wait for the
    /// database's answer.
    func recordEvent(_ event: StoreEvent) throws {
        guard let events else { return }
        for delivery in events.deliveries(of: event) {
            try post(
                """
                INSERT INTO deliveries (id, receiver, lane, event_id, payload, created_at, attempts, due_at)
                SELECT CAST(?1 AS TEXT), CAST(?2 AS TEXT), CAST(?3 AS TEXT), CAST(?4 AS TEXT), CAST(?5 AS TEXT),
                CAST(?6 AS BIGINT), CAST(?7 AS BIGINT), CAST(?8 AS BIGINT)
                WHERE \(DeliverySQL.hasRoom) ON CONFLICT DO NOTHING
                """, delivery.values + [.limit(events.limit)])
        }
    }

    fileprivate func room(for receiver: String, limit: Int) throws -> Int64 {
        var row = try row(
            "SELECT COUNT(*) FROM (SELECT 1 \(DeliverySQL.waiting(for: "?1")) LIMIT ?2) AS waiting",
            [.text(receiver), .limit(limit)])
        return Int64(max(0, limit)) - (try row?.integer() ?? 0)
    }

    /// - Returns: how many rows were added: none if the id is stored already.
    fileprivate func append(_ delivery: DeliveryRecord) throws -> Int {
        try execute(
            """
            INSERT INTO deliveries (id, receiver, lane, event_id, payload, created_at, attempts, due_at)
            VALUES (\(sqlParameters(8))) ON CONFLICT DO NOTHING
            """,
            delivery.values)
    }

    fileprivate func settle(_ settlement: DeliverySettlement) throws {
        switch settlement {
        case .delivered(let id): try post("DELETE FROM deliveries WHERE id = ?1", [.text(id)])
        case .retry(let id, let attempts, let dueAt):
            try post(
                "UPDATE deliveries SET attempts = ?2, due_at = ?3 WHERE id = ?1",
                [.text(id), .integer(attempts), .integer(dueAt)])
        case .deadLettered(let id, let reason, let at):
            try post(
                "UPDATE deliveries SET buried_at = ?2, verdict = ?3 WHERE id = ?1",
                [.text(id), .integer(at), .text(reason)])
        }
    }
}

extension DeliveryRecord {
    /// The columns that are given, in their order.
    fileprivate var values: [SQLValue] {
        [
            .text(id), .text(receiver), .text(lane), .text(eventID), .text(payload), .integer(createdAt),
            .integer(attempts), .integer(dueAt),
        ]
    }

    fileprivate static let columns =
        "id, receiver, lane, sequence, event_id, payload, created_at, attempts, due_at"

    fileprivate init(row: inout SQLRow) throws {
        self.init(
            id: try row.text(), receiver: try row.text(), lane: try row.text(), sequence: try row.integer(),
            eventID: try row.text(), payload: try row.text(), createdAt: try row.integer(),
            attempts: try row.integer(), dueAt: try row.integer())
    }
}
