private enum AccountSQL {
    static let insert = "INSERT INTO accounts (\(AccountRecord.columns)) VALUES (\(sqlParameters(13)))"
    static let byID = "SELECT \(AccountRecord.columns) FROM accounts WHERE user_id = ?1"
    /// Statements that find up to 4, 16 or 64 accounts by their ids. There are only three, so that each is prepared
    /// once.
    static let byIDs = [4, 16, 64].map { count in
        (count: count, sql: "SELECT \(AccountRecord.columns) FROM accounts WHERE user_id IN (\(sqlParameters(count)))")
    }
}

// MARK: Inside a transaction
extension SQLTransaction {
    /// Reads without a lock.
    func account(userID: String) throws -> AccountRecord? {
        try row(AccountSQL.byID, [.text(userID)]).map(AccountRecord.init(row:))
    }

    /// The account of a tenant with this verified e-mail; nil if there is none, or more than one without a login name
    /// that decides between them.
    fileprivate func account(tenantID: String, verifiedEmailKey key: String) throws -> AccountRecord? {
        guard !key.isEmpty else { return nil }
        // What the databases take for lower case differs beyond ASCII, so the bytes are compared here.
        let found = try rows(
            "SELECT \(AccountRecord.columns) FROM accounts WHERE tenant_id = ?1 AND LOWER(email) = LOWER(?2) LIMIT 100",
            [.text(tenantID), .text(key)]
        ).map(AccountRecord.init(row:)).filter { $0.emailVerified && $0.hasEmail(ofKey: key) }
        return found.first { $0.emailKey.utf8.elementsEqual(key.utf8) } ?? (found.count == 1 ? found.first : nil)
    }
}

extension SQLTransaction {
    fileprivate func insert(_ account: AccountRecord) throws {
        _ = try execute(AccountSQL.insert, account.values)
        try remember(scopes: account.scope)
    }

    /// Sorted, so that nodes lock the rows in the same order.
    fileprivate func remember(scopes: [String]) throws {
        for scope in Set(scopes).sorted() {
            try post("INSERT INTO account_scopes (scope) VALUES (?1) ON CONFLICT DO NOTHING", [.text(scope)])
        }
    }
}

// MARK: The roles
extension SQLSurface {
    func insert(account: AccountRecord) async throws {
        try await write { transaction in
            try transaction.insert(account)
            try transaction.record(.account(userID: account.userID), reach: .here)
        }
    }

    func account(userID: String) async throws -> AccountRecord? {
        try await row(AccountSQL.byID, [.text(userID)]).map(AccountRecord.init(row:))
    }

    func accounts(userIDs: [String]) async throws -> [AccountRecord] {
        var accounts: [AccountRecord] = []
        var rest = userIDs[...]
        while let last = rest.last {
            guard let statement = AccountSQL.byIDs.first(where: { $0.count >= rest.count }) ?? AccountSQL.byIDs.last
            else { break }
            let some = rest.prefix(statement.count)
            rest = rest.dropFirst(some.count)
            // An id that stands there twice finds its account once.
            let filled = some + Array(repeating: last, count: statement.count - some.count)
            accounts += try await rows(statement.sql, filled.map(SQLValue.text)).map(AccountRecord.init(row:))
        }
        return accounts
    }

    /// In the order of the tenants; none for an empty key.
    func accounts(emailKey: String) async throws -> [AccountRecord] {
        // An empty key must not find accounts without an e-mail.
        guard !emailKey.isEmpty else { return [] }
        return try await rows(
            "SELECT \(AccountRecord.columns) FROM accounts WHERE email_key = ?1 AND email_key <> '' ORDER BY tenant_id",
            [.text(emailKey)]
        ).map(AccountRecord.init(row:))
    }

    func accounts(tenantID: String?, limit: Int) async throws -> [AccountRecord] {
        try await rows(
            """
            SELECT \(AccountRecord.columns) FROM accounts \(tenantID == nil ? "" : "WHERE tenant_id = ?2")
            ORDER BY created_at DESC, user_id LIMIT ?1
            """, [.limit(limit)] + (tenantID.map { [.text($0)] } ?? [])
        ).map(AccountRecord.init(row:))
    }

    /// Replaces all but the id and the credential epoch, increases the version by one, and reports
    /// ``Change/account(userID:)`` to all nodes.
    func replace(account record: AccountRecord) async throws -> Bool {
        try await write { transaction in
            let changed = try transaction.execute(
                """
                UPDATE accounts SET tenant_id = ?2, email = ?3, email_key = ?4, password_hash = ?5, scope = ?6,
                disabled = ?7, created_at = ?8, version = version + 1, email_verified = ?10, name = ?11,
                member_of = ?12 WHERE user_id = ?1 AND version = ?9
                """, record.replacement)
            guard changed == 1 else { return false }
            try transaction.remember(scopes: record.scope)
            try transaction.record(.account(userID: record.userID))
            return true
        }
    }

    /// - Returns: whether there is such an account.
    func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        try await write { transaction in
            // The account is locked first, because transactions that open a family or session for it lock this row,
            // too.
            var changed = try transaction.row(
                """
                UPDATE accounts SET disabled = 1, credential_epoch = credential_epoch + 1, version = version + 1
                WHERE user_id = ?1 RETURNING version, tenant_id
                """, [.text(userID)])
            guard let version = try changed?.integer() else { return false }
            try transaction.recordEvent(
                StoreEvent(.accountDisabled, tenantID: try changed?.optionalText(), userID: userID))
            // Families from before `fid` named the account's version are found by the user id only.
            _ = try transaction.endFamilies("user_id = ?1", [.text(userID)], revokedUntil: revokedUntil) { _ in
                try transaction.endSessions(
                    userID: userID, at: at, because: StoreEvent.EndReason.accountDisabled)
            }
            try transaction.revoke(
                Revocation(
                    kind: .subject, id: userID, issuedUntil: at, accountVersion: version, expiresAt: revokedUntil))
            try transaction.record(.account(userID: userID))
            return true
        }
    }

    /// First without a transaction, as an identity is nearly always there. A new account is stored only if the
    /// identity's row was inserted by this call.
    func identity(
        issuer: String, subject: String, tenantID: String, linking verifiedEmailKey: String?,
        create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord {
        let key = [SQLValue.text(issuer), .text(subject), .text(tenantID)]
        let find = """
            SELECT \(AccountRecord.columns) FROM accounts WHERE user_id = (SELECT user_id FROM identities
            WHERE issuer = ?1 AND subject = ?2 AND tenant_id = ?3)
            """
        if let row = try await row(find, key) { return try AccountRecord(row: row) }
        let created = create()
        return try await write { transaction in
            let linked = try verifiedEmailKey.flatMap { key in
                try transaction.account(tenantID: tenantID, verifiedEmailKey: key)
            }
            let account = linked ?? created
            // Of concurrent calls, one inserts this row; the others wait and read it.
            let claimed = try transaction.execute(
                """
                INSERT INTO identities (issuer, subject, tenant_id, user_id) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT DO NOTHING
                """, key + [.text(account.userID)])
            guard claimed == 0 else {
                if let linked { return linked }
                try transaction.insert(account)
                try transaction.record(.account(userID: account.userID), reach: .here)
                return account
            }
            guard let row = try transaction.row(find, key) else {
                throw StateSurfaceError(.corrupt, "an external identity points to an account that does not exist")
            }
            return try AccountRecord(row: row)
        }
    }

    func userIDs(issuer: String, subject: String) async throws -> [String] {
        try await rows(
            "SELECT user_id FROM identities WHERE issuer = ?1 AND subject = ?2 ORDER BY user_id",
            [.text(issuer), .text(subject)]
        ).map { row in
            var row = row
            return try row.text()
        }
    }

    // MARK: Clients

    func insert(client: ClientRecord) async throws {
        try await write { transaction in
            _ = try transaction.execute(
                "INSERT INTO clients (\(ClientRecord.columns)) VALUES (\(sqlParameters(11)))", client.values)
        }
    }

    func client(id: String) async throws -> ClientRecord? {
        try await row("SELECT \(ClientRecord.columns) FROM clients WHERE client_id = ?1", [.text(id)])
            .map(ClientRecord.init(row:))
    }

    /// Ends the client's families and sessions in the same transaction, and revokes its tokens whenever they were
    /// issued.
    func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        try await write { transaction in
            let changed = try transaction.execute(
                "UPDATE clients SET disabled = 1 WHERE client_id = ?1", [.text(clientID)])
            guard changed == 1 else { return false }
            transaction.setEndReason(StoreEvent.EndReason.clientDisabled)
            // The second condition makes the index on clients usable; no registered client has that name.
            _ = try transaction.endFamilies(
                "client_id = ?1 AND client_id <> 'gatehouse'", [.text(clientID)], revokedUntil: revokedUntil
            ) { families in
                // A session of the client itself has the client as its user.
                try families.flatMap { try transaction.endSessions(familyID: $0, at: at) }
                    + transaction.endSessions(
                        userID: clientID, at: at, because: StoreEvent.EndReason.clientDisabled)
            }
            // Regardless of `iat`, so that a token that is issued at the same time is revoked as well.
            try transaction.revoke(
                Revocation(kind: .subject, id: clientID, issuedUntil: .max, expiresAt: revokedUntil))
            return true
        }
    }

    func clients(limit: Int) async throws -> [ClientRecord] {
        try await rows(
            "SELECT \(ClientRecord.columns) FROM clients ORDER BY created_at DESC, client_id LIMIT ?1",
            [.limit(limit)]
        ).map(ClientRecord.init(row:))
    }
}

extension AccountRecord {
    /// Whether the e-mail, with ASCII letters in lower case, is this.
    fileprivate func hasEmail(ofKey key: String) -> Bool {
        email.utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }.elementsEqual(key.utf8)
    }
}
