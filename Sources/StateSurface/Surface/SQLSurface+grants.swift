// MARK: Inside a transaction
extension SQLTransaction {
    /// Ends what was granted in a session that has ended, unless it was to be kept, and the sessions that were opened
    /// with it.
    func endGrants(in sessionID: String, at: Milliseconds) throws {
        _ = try endFamilies(
            "binding = ?1 AND resource IS NOT NULL", [.text(sessionID)], revokedUntil: Self.revokedUntil(endedAt: at)
        ) { families in try families.flatMap { try endSessions(familyID: $0, at: at) } }
    }

    /// Until when the tokens of a family are revoked that the store itself ends, because a session of it is over. The
    /// revocation lasts at least as long as any node's tokens: see `RevocationSQL.wholeReach`.
    static func revokedUntil(endedAt at: Milliseconds) -> Milliseconds {
        let until = at.addingReportingOverflow(3_600_000)
        return until.overflow ? at : until.partialValue
    }

    /// Forgets the protocol sessions of a family that has ended.
    func forgetProtocolSessions(familyID: String) throws {
        try post("DELETE FROM protocol_sessions WHERE family_id = ?1", [.text(familyID)])
    }
}

// MARK: Opening, inside a transaction
extension SQLTransaction {
    func open(
        grant family: FamilyRecord, judged: JudgedOwner, in session: AuthorizingSession, consent: GrantConsent
    ) throws -> Bool {
        // Locks the account, which `endGrant` waits for.
        try require(judged, userID: family.userID)
        if consent == .reliedOn, try !isConsented(family) { return false }
        try insert(required: family)
        if case .remembered(let at) = consent { try remember(consentTo: family, at: at) }
        // Locked, so that an end of the session waits and then ends this family as well.
        let found = try row(
            "SELECT state, user_id, epoch FROM sessions WHERE id = ?1\(dialect.forShare)", [.text(session.id)])
        guard var row = found, try row.word(StoredSessionState.self) == .authenticated,
            try row.optionalText()?.utf8.elementsEqual(family.userID.utf8) == true,
            try row.integer() == session.epoch
        else { throw StateSurfaceError.ownerGone }
        _ = try execute(
            "UPDATE clients SET expires_at = NULL WHERE client_id = ?1 AND expires_at IS NOT NULL",
            [.text(family.clientID)])
        return true
    }

    /// An existing client of this id gets the document's name, redirect URIs and scope, and stays disabled if it was.
    func keep(documentClient record: ClientRecord) throws {
        _ = try execute(
            """
            INSERT INTO clients (\(ClientRecord.columns)) VALUES (\(sqlParameters(11)))
            ON CONFLICT (client_id) DO UPDATE SET name = excluded.name, redirect_uris = excluded.redirect_uris,
            scope = excluded.scope
            """, record.values)
    }

    /// Remembers the consent to a family's scopes, in place of an earlier one for the same user, client and resource.
    fileprivate func remember(consentTo family: FamilyRecord, at: Milliseconds) throws {
        _ = try execute(
            """
            INSERT INTO consents (user_id, client_id, resource, scope, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (user_id, client_id, resource) DO UPDATE SET scope = excluded.scope,
            created_at = excluded.created_at
            """,
            [
                .text(family.userID), .text(family.clientID), .text(family.resource ?? ""), .scope(family.scope),
                .integer(at),
            ])
    }

    /// Whether a consent is remembered that covers the family's scopes.
    fileprivate func isConsented(_ family: FamilyRecord) throws -> Bool {
        let found = try row(
            "SELECT scope FROM consents WHERE user_id = ?1 AND client_id = ?2 AND resource = ?3",
            [.text(family.userID), .text(family.clientID), .text(family.resource ?? "")])
        guard var row = found else { return false }
        let scope = try row.scope()
        return family.scope.allSatisfy { wanted in scope.contains { $0.utf8.elementsEqual(wanted.utf8) } }
    }
}

// MARK: The role
extension SQLSurface {
    func open(
        grant family: FamilyRecord, judged: JudgedOwner, in session: AuthorizingSession, consent: GrantConsent
    ) async throws -> Bool {
        try await write { try $0.open(grant: family, judged: judged, in: session, consent: consent) }
    }

    func keep(documentClient record: ClientRecord) async throws {
        try await write { try $0.keep(documentClient: record) }
    }

    func consent(userID: String, clientID: String, resource: String) async throws -> ConsentRecord? {
        let row = try await row(
            "SELECT scope, created_at FROM consents WHERE user_id = ?1 AND client_id = ?2 AND resource = ?3",
            [.text(userID), .text(clientID), .text(resource)])
        guard var row else { return nil }
        return ConsentRecord(
            userID: userID, clientID: clientID, resource: resource, scope: try row.scope(),
            createdAt: try row.integer())
    }

    func consents(userID: String) async throws -> [ConsentRecord] {
        let sql = """
            SELECT client_id, resource, scope, created_at FROM consents WHERE user_id = ?1
            ORDER BY created_at, client_id, resource
            """
        return try await rows(sql, [.text(userID)]).map { row in
            var row = row
            return ConsentRecord(
                userID: userID, clientID: try row.text(), resource: try row.text(), scope: try row.scope(),
                createdAt: try row.integer())
        }
    }

    /// One transaction: the consent is forgotten, the families end, and then the sessions that were opened with them.
    func endGrant(
        userID: String, clientID: String, resource: String, at: Milliseconds, revokedUntil: Milliseconds
    ) async throws -> Bool {
        let key = [SQLValue.text(userID), .text(clientID), .text(resource)]
        return try await write { transaction in
            // Locked, so that an authorisation that is under way is finished first and ended as well, or begins
            // afterwards and finds no consent. It locks the account, too.
            _ = try transaction.row(
                "SELECT 1 FROM accounts WHERE user_id = ?1\(transaction.dialect.forUpdate)", [.text(userID)])
            let forgotten = try transaction.execute(
                "DELETE FROM consents WHERE user_id = ?1 AND client_id = ?2 AND resource = ?3", key)
            var isEnded = forgotten > 0
            _ = try transaction.endFamilies(
                "user_id = ?1 AND client_id = ?2 AND resource = ?3", key, revokedUntil: revokedUntil
            ) { families in
                if !families.isEmpty { isEnded = true }
                // Those that were opened with the grant's tokens.
                return try families.flatMap { try transaction.endSessions(familyID: $0, at: at) }
            }
            return isEnded
        }
    }

    /// A scan, but only people who decide on a consent page cause it, and the first match ends it.
    func accountsHave(scope: String) async throws -> Bool {
        // Also one that no account has any more: a scope that was taken from its last holder must not become free for
        // all.
        if try await row("SELECT 1 FROM account_scopes WHERE scope = ?1", [.text(scope)]) != nil { return true }
        // Those of accounts that an older version wrote.
        let position = engine.dialect.positionFunction
        let sql = "SELECT 1 FROM accounts WHERE \(position)(' ' || scope || ' ', ' ' || ?1 || ' ') > 0 LIMIT 1"
        return try await row(sql, [.text(scope)]) != nil
    }
}
