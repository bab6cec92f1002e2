extension FamilyRecord {
    static let columnList = [
        "id", "tenant_id", "user_id", "client_id", "scope", "binding", "is_live", "created_at",
        "absolute_expires_at", "current_hash", "previous_hash", "successor_salt", "rotated_at", "counter",
        "token_expires_at", "authenticated_at", "acr", "provider", "provider_session", "resource",
    ]
    static let columns = columnList.joined(separator: ", ")
    static let qualifiedColumns = columnList.map { "families." + $0 }.joined(separator: ", ")

    init(row: SQLRow) throws {
        var row = row
        try self.init(reading: &row)
    }

    /// Reads a record, and leaves the row at the column after it.
    init(reading row: inout SQLRow) throws {
        self.init(
            id: try row.text(), tenantID: try row.text(), userID: try row.text(), clientID: try row.text(),
            scope: try row.scope(), binding: try row.optionalText(), isLive: try row.flag(),
            createdAt: try row.integer(), absoluteExpiresAt: try row.integer(), currentHash: try row.blob(),
            previousHash: try row.optionalBlob(), successorSalt: try row.optionalBlob(),
            rotatedAt: try row.optionalInteger(), counter: try row.integer(),
            tokenExpiresAt: try row.optionalInteger())
        let authenticatedAt = try row.optionalInteger()
        let (acr, provider, session) = (try row.optionalText(), try row.optionalText(), try row.optionalText())
        signIn = authenticatedAt.map {
            SignInFacts(authenticatedAt: $0, acr: acr, provider: provider, providerSession: session)
        }
        resource = try row.optionalText()
    }

    var values: [SQLValue] {
        [
            .text(id), .text(tenantID), .text(userID), .text(clientID), .scope(scope), .optional(binding),
            .flag(isLive), .integer(createdAt), .integer(absoluteExpiresAt), .blob(currentHash),
            .optional(previousHash), .optional(successorSalt), .optional(rotatedAt), .integer(counter),
            .optional(tokenExpiresAt), .optional(signIn?.authenticatedAt), .optional(signIn?.acr),
            .optional(signIn?.provider), .optional(signIn?.providerSession), .optional(resource),
        ]
    }
}

extension Revocation {
    static let columns = "kind, id, issued_until, account_version, expires_at"

    init(row: SQLRow) throws {
        var row = row
        self.init(
            kind: try row.word(Kind.self), id: try row.text(), issuedUntil: try row.integer(),
            accountVersion: try row.optionalInteger(), expiresAt: try row.integer())
    }

    var values: [SQLValue] {
        [
            .text(kind.rawValue), .text(id), .integer(issuedUntil), .optional(accountVersion), .integer(expiresAt),
        ]
    }
}
