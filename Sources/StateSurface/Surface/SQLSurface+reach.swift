/// How far the tokens reach that nodes of this store make: one row for each setting in use, or in use lately.
extension SQLSurface {
    func note(reach: TokenReach, goodUntil: Milliseconds) async throws {
        let values = [SQLValue.integer(reach.lifetime), .integer(reach.clockSkew), .integer(goodUntil)]
        try await write { transaction in
            let isKnown =
                try transaction.row(
                    "SELECT 1 FROM token_reach WHERE lifetime = ?1 AND clock_skew = ?2", Array(values.prefix(2))) != nil
            _ = try transaction.execute(
                """
                INSERT INTO token_reach (lifetime, clock_skew, good_until) VALUES (?1, ?2, ?3)
                ON CONFLICT (lifetime, clock_skew) DO UPDATE SET good_until =
                CASE WHEN excluded.good_until > token_reach.good_until THEN excluded.good_until
                ELSE token_reach.good_until END
                """, values)
            if !isKnown { try transaction.record(.tokenReach(reach)) }
        }
    }

    func tokenReach(now: Milliseconds) async throws -> TokenReach? {
        guard
            var row = try await row(
                "SELECT MAX(lifetime), MAX(clock_skew) FROM token_reach WHERE good_until > ?1", [.integer(now)]),
            let lifetime = try row.optionalInteger(), let clockSkew = try row.optionalInteger()
        else { return nil }
        return TokenReach(lifetime: lifetime, clockSkew: clockSkew)
    }
}
