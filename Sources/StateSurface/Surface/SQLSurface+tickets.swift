extension SQLSurface {
    private static let ticketColumns = "hash, session_id, epoch, facts, origin, expires_at, node_id"

    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool {
        try await write { transaction in
            // Otherwise concurrent calls could each count before the others' rows are there.
            try transaction.takeTurn("tickets of \(ticket.sessionID)")
            var row = try transaction.row(
                "SELECT COUNT(*) FROM tickets WHERE session_id = ?1 AND expires_at > ?2",
                [.text(ticket.sessionID), .integer(now)])
            guard try row?.integer() ?? 0 < Int64(limit) else { return false }
            _ = try transaction.execute(
                "INSERT INTO tickets (\(Self.ticketColumns)) VALUES (\(sqlParameters(7)))",
                [
                    .blob(ticket.hash), .text(ticket.sessionID), .integer(ticket.epoch), .blob(ticket.facts),
                    .optional(ticket.origin), .integer(ticket.expiresAt), .optional(ticket.nodeID),
                ])
            return true
        }
    }

    func ticket(hash: [UInt8]) async throws -> TicketRecord? {
        try await row("SELECT \(Self.ticketColumns) FROM tickets WHERE hash = ?1", [.blob(hash)])
            .map(TicketRecord.init(row:))
    }

    func take(ticketHash: [UInt8]) async throws -> TicketRecord? {
        try await write { transaction in
            try transaction.row(
                "DELETE FROM tickets WHERE hash = ?1 RETURNING \(Self.ticketColumns)", [.blob(ticketHash)]
            ).map(TicketRecord.init(row:))
        }
    }
}

extension TicketRecord {
    fileprivate init(row: SQLRow) throws {
        var row = row
        self.init(
            hash: try row.blob(), sessionID: try row.text(), epoch: try row.integer(), facts: try row.blob(),
            origin: try row.optionalText(), expiresAt: try row.integer(), nodeID: try row.optionalText())
    }
}
