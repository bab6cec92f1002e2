import StateSurface

// MARK: In the tables
extension MemoryTables {
    /// Adds a revocation, or extends the stored one, and tells what is stored then.
    mutating func revoke(_ revocation: Revocation) {
        var stored = revocation
        if stored.kind != .token, let reach = reaches.values.max() {
            // Until the last token that any node may have issued; when a single token ends is known.
            stored.expiresAt = max(stored.expiresAt, reach)
        }
        let key = RevocationKey(revocation)
        if let known = revocations[key] {
            stored.issuedUntil = max(stored.issuedUntil, known.issuedUntil)
            stored.accountVersion = [stored.accountVersion, known.accountVersion].compactMap(\.self).max()
            stored.expiresAt = max(stored.expiresAt, known.expiresAt)
        }
        revocations[key] = stored
        changes.append(.revoked(stored))
    }

    mutating func note(_ reach: TokenReach, goodUntil: Milliseconds) {
        let known = reaches[reach]
        reaches[reach] = max(known ?? .min, goodUntil)
        if known == nil { changes.append(.tokenReach(reach)) }
    }

    func tokenReach(now: Milliseconds) -> TokenReach? {
        let current = reaches.filter { $0.value > now }.keys
        return current.dropFirst().reduce(current.first) { $0?.joined(with: $1) }
    }
}

// MARK: The role
extension MemoryStore: RevocationStore {
    package func revoke(_ revocation: Revocation) async throws {
        try write { tables in
            try tables.refuseNUL(in: revocation.id)
            tables.revoke(revocation)
        }
    }

    package func revocations(now: Milliseconds) async throws -> [Revocation] {
        try read { tables in tables.revocations.values.filter { $0.expiresAt > now } }
    }

    package func note(reach: TokenReach, goodUntil: Milliseconds) async throws {
        try write { $0.note(reach, goodUntil: goodUntil) }
    }

    package func tokenReach(now: Milliseconds) async throws -> TokenReach? {
        try read { $0.tokenReach(now: now) }
    }
}
