extension SQLSurface {
    func registeredKeys() async throws -> Set<String> {
        try await Set(
            rows("SELECT thumbprint FROM signing_keys", []).map { row in
                var row = row
                return try row.text()
            })
    }

    func register(keys thumbprints: Set<String>) async throws {
        let now = clock()
        try await write { transaction in
            // Sorted, so that two nodes lock rows in the same order.
            for thumbprint in thumbprints.sorted() {
                _ = try transaction.execute(
                    "INSERT INTO signing_keys (thumbprint, registered_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                    [.text(thumbprint), .integer(now)])
            }
        }
    }

    /// The window slides in sixtieths and never counts less than what happened within it.
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64 {
        let slotLength = max(1, window / 60)
        let slot = now / slotLength
        let oldest = (now &- window) / slotLength
        let sumSQL =
            "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM counters WHERE key = ?1 AND slot >= ?2"
        let sumValues = [SQLValue.text(key), .integer(oldest)]
        if adding == 0 {
            var row = try await row(sumSQL, sumValues)
            return try row?.integer() ?? 0
        }
        return try await write { transaction in
            _ = try transaction.execute(
                """
                INSERT INTO counters (key, slot, amount, expires_at) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (key, slot) DO UPDATE SET amount = counters.amount + excluded.amount
                """, [.text(key), .integer(slot), .integer(adding), .integer(now &+ window &+ slotLength)])
            var row = try transaction.row(sumSQL, sumValues)
            return try row?.integer() ?? 0
        }
    }
}
