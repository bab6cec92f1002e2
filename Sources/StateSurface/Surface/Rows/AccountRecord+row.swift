extension AccountRecord {
    static let columns = """
        user_id, tenant_id, email, email_key, password_hash, scope, disabled, created_at, version, email_verified, \
        credential_epoch, name, member_of
        """

    init(row: SQLRow) throws {
        var row = row
        self.init(
            userID: try row.text(), tenantID: try row.text(), email: try row.text(), emailKey: try row.text(),
            passwordHash: try row.optionalText(), scope: try row.scope(), disabled: try row.flag(),
            createdAt: try row.integer(), version: try row.integer(), emailVerified: try row.flag(),
            credentialEpoch: try row.integer(), name: try row.optionalText(),
            // A group contains no control characters.
            groups: try row.text().split(separator: "\n").map(String.init))
    }

    var values: [SQLValue] {
        [
            .text(userID), .text(tenantID), .text(email), .text(emailKey), .optional(passwordHash), .scope(scope),
            .flag(disabled), .integer(createdAt), .integer(version), .flag(emailVerified), .integer(credentialEpoch),
            .optional(name), .text(groups.joined(separator: "\n")),
        ]
    }
}

extension AccountRecord {
    /// The values of a replacement, which leaves the credential epoch as it is.
    var replacement: [SQLValue] {
        var values = values
        values.remove(at: 10)
        return values
    }
}

extension ClientRecord {
    static let columns = """
        client_id, tenant_id, name, secret_hash, scope, disabled, created_at, redirect_uris, is_public, origin, \
        expires_at
        """

    init(row: SQLRow) throws {
        var row = row
        self.init(
            clientID: try row.text(), tenantID: try row.text(), name: try row.text(), secretHash: try row.blob(),
            scope: try row.scope(), disabled: try row.flag(), createdAt: try row.integer(),
            // A redirect URI contains no space.
            redirectURIs: try row.scope(), isPublic: try row.flag(), origin: try row.text(),
            expiresAt: try row.optionalInteger())
    }

    var values: [SQLValue] {
        [
            .text(clientID), .text(tenantID), .text(name), .blob(secretHash), .scope(scope), .flag(disabled),
            .integer(createdAt), .scope(redirectURIs), .flag(isPublic), .text(origin), .optional(expiresAt),
        ]
    }
}
