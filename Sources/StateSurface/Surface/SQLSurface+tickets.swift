extension SQLSurface {
    private static let takeSQL =
        "DELETE FROM tickets WHERE hash = ?1 RETURNING hash, session_id, epoch, facts, origin, expires_at"

    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool {
        try await write { transaction in
            var row = try transaction.row(
                "SELECT COUNT(*) FROM tickets WHERE session_id = ?1 AND expires_at > ?2",
                [.text(ticket.sessionID), .integer(now)])
            guard try row?.integer() ?? 0 < Int64(limit) else { return false }
            _ = try transaction.execute(
                """
                INSERT INTO tickets (hash, session_id, epoch, facts, origin, expires_at)
                VALUES (\(Self.parameters(6)))
                """,
                [
                    .blob(ticket.hash), .text(ticket.sessionID), .integer(ticket.epoch), .blob(ticket.facts),
                    .optional(ticket.origin), .integer(ticket.expiresAt),
                ])
            return true
        }
    }

    /// Looks before it writes: whoever makes up tickets must not keep the writer busy.
    func take(ticketHash: [UInt8]) async throws -> TicketRecord? {
        guard try await row("SELECT 1 FROM tickets WHERE hash = ?1", [.blob(ticketHash)]) != nil else { return nil }
        return try await write { transaction in
            guard var row = try transaction.row(Self.takeSQL, [.blob(ticketHash)]) else { return nil }
            return TicketRecord(
                hash: try row.blob(), sessionID: try row.text(), epoch: try row.integer(), facts: try row.blob(),
                origin: try row.optionalText(), expiresAt: try row.integer())
        }
    }
}
