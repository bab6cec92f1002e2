private enum RevocationSQL {
    /// The end of a revocation of several tokens: that of the last token that any node may have issued, because a node
    /// knows only its own settings.
    static let wholeReach = """
        CASE WHEN ?5 < (SELECT COALESCE(MAX(good_until), 0) FROM token_reach)
        THEN (SELECT MAX(good_until) FROM token_reach) ELSE ?5 END
        """

    /// - Parameter expiresAt: the expression for the time at which it can be removed.
    static func insert(expiresAt: String) -> String {
        """
        INSERT INTO revocations (\(Revocation.columns)) VALUES (?1, ?2, ?3, ?4, \(expiresAt))
        ON CONFLICT (kind, id) DO UPDATE SET
        issued_until = CASE WHEN excluded.issued_until > revocations.issued_until
        THEN excluded.issued_until ELSE revocations.issued_until END,
        account_version = CASE WHEN revocations.account_version IS NULL
        OR excluded.account_version > revocations.account_version
        THEN excluded.account_version ELSE revocations.account_version END,
        expires_at = CASE WHEN excluded.expires_at > revocations.expires_at
        THEN excluded.expires_at ELSE revocations.expires_at END
        RETURNING \(Revocation.columns)
        """
    }
}

extension SQLTransaction {
    /// Adds or extends a revocation.
    func revoke(_ revocation: Revocation) throws {
        // The end of a single token is known.
        let expiresAt = revocation.kind == .token ? "?5" : RevocationSQL.wholeReach
        let stored = try row(RevocationSQL.insert(expiresAt: expiresAt), revocation.values)
        try record(.revoked(stored.map(Revocation.init(row:)) ?? revocation))
    }
}

extension SQLSurface {
    func revoke(_ revocation: Revocation) async throws { try await write { try $0.revoke(revocation) } }

    func revocations(now: Milliseconds) async throws -> [Revocation] {
        try await rows(
            "SELECT \(Revocation.columns) FROM revocations WHERE expires_at > ?1", [.integer(now)]
        ).map(Revocation.init(row:))
    }
}

/// The reach of the tokens that nodes of this store issue: one row for each setting that is or was recently in use.
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
