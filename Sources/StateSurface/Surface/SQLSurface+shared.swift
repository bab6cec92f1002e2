extension SQLSurface {
    func registeredKeys() async throws -> Set<String> {
        try await Set(
            rows("SELECT thumbprint FROM signing_keys", []).map { row in
                var row = row
                return try row.text()
            })
    }

    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool {
        let now = clock()
        return try await write { transaction in
            // No other node may read the registry between this read and the insert.
            if let lock = transaction.dialect.lock(table: "signing_keys") { _ = try transaction.execute(lock, []) }
            let registered = try Set(
                transaction.rows("SELECT thumbprint FROM signing_keys", []).map { row in
                    var row = row
                    return try row.text()
                })
            guard registered.isEmpty || !registered.isDisjoint(with: held.union([signingKey])) else { return false }
            for thumbprint in registered.intersection(superseded).sorted() where thumbprint != signingKey {
                _ = try transaction.execute("DELETE FROM signing_keys WHERE thumbprint = ?1", [.text(thumbprint)])
            }
            _ = try transaction.execute(
                "INSERT INTO signing_keys (thumbprint, registered_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [.text(signingKey), .integer(now)])
            return true
        }
    }

    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8] {
        try await write { transaction in
            _ = try transaction.execute(
                "INSERT INTO secrets (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [.text(name), .blob(candidate)])
            guard var row = try transaction.row("SELECT value FROM secrets WHERE name = ?1", [.text(name)]) else {
                throw StateSurfaceError(.corrupt, "a secret that was just kept is not there")
            }
            return try row.blob()
        }
    }

    /// The window moves in steps of a sixtieth, and the sum is never less than the exact one.
    ///
    /// Rows stay for a while after their end, and the slots of another window are numbered differently: what is over
    /// does not count.
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64 {
        let slotLength = max(1, window / 60)
        let slot = now / slotLength
        let oldest = (now &- window) / slotLength
        let sumSQL = """
            SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM counters
            WHERE key = ?1 AND slot >= ?2 AND expires_at > ?3
            """
        let sumValues = [SQLValue.text(key), .integer(oldest), .integer(now)]
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
