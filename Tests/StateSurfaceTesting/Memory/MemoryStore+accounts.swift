import StateSurface

// MARK: In the tables
extension MemoryTables {
    mutating func insert(account: AccountRecord) throws {
        try refuseNUL(in: account)
        guard accounts[account.userID] == nil else {
            throw StateSurfaceError(.duplicate, "there is an account of this id")
        }
        try requireFreeEmail(of: account)
        accounts[account.userID] = account
        changes.append(.account(userID: account.userID))
    }

    mutating func replace(account record: AccountRecord) throws -> Bool {
        try refuseNUL(in: record)
        guard let stored = accounts[record.userID], stored.version == record.version else { return false }
        try requireFreeEmail(of: record)
        var next = record
        next.version += 1
        next.credentialEpoch = stored.credentialEpoch
        accounts[record.userID] = next
        changes.append(.account(userID: record.userID))
        return true
    }

    private func refuseNUL(in account: AccountRecord) throws {
        try refuseNUL(
            in: account.userID, account.tenantID, account.email, account.emailKey, account.passwordHash, account.name,
            account.scope.joined(), account.groups.joined())
    }

    /// An e-mail is taken once in a tenant, and once by those who registered, each with a tenant of their own.
    private func requireFreeEmail(of account: AccountRecord) throws {
        guard !account.emailKey.isEmpty else { return }
        let isTaken = accounts.values.contains { other in
            other.userID != account.userID && other.emailKey == account.emailKey
                && (other.tenantID == account.tenantID || (other.isRegistered && account.isRegistered))
        }
        if isTaken { throw StateSurfaceError(.duplicate, "there is an account with this e-mail") }
    }

    /// Newest first, of a tenant or of all.
    func accounts(tenantID: String?, limit: Int) -> [AccountRecord] {
        let wanted = accounts.values.filter { tenantID == nil || $0.tenantID == tenantID }
        return Array(wanted.sorted { ($1.createdAt, $0.userID) < ($0.createdAt, $1.userID) }.prefix(limit))
    }

    /// In the order of the tenants; none for an empty key, which accounts without an e-mail have.
    func accounts(emailKey: String) -> [AccountRecord] {
        accounts.values.filter { !emailKey.isEmpty && $0.emailKey == emailKey }.sorted { $0.tenantID < $1.tenantID }
    }

    func account(of identity: IdentityKey) -> AccountRecord? {
        identities[identity].flatMap { accounts[$0] }
    }

    /// The account of a tenant with this verified e-mail; nil if there is none, or more than one without a login name
    /// that decides between them.
    private func account(tenantID: String, verifiedEmailKey key: String) -> AccountRecord? {
        guard !key.isEmpty else { return nil }
        let found = accounts.values.filter { $0.tenantID == tenantID && $0.emailVerified && $0.hasEmail(ofKey: key) }
        return found.first { $0.emailKey == key } ?? (found.count == 1 ? found.first : nil)
    }

    /// - Parameter created: the account that the identity becomes if it has none and none is linked.
    mutating func account(
        of identity: IdentityKey, linking verifiedEmailKey: String?, or created: AccountRecord
    ) throws -> AccountRecord {
        if let known = account(of: identity) { return known }
        try refuseNUL(in: identity.issuer, identity.subject, identity.tenantID)
        let linked = verifiedEmailKey.flatMap { account(tenantID: identity.tenantID, verifiedEmailKey: $0) }
        if linked == nil { try insert(account: created) }
        let owner = linked ?? created
        identities[identity] = owner.userID
        return owner
    }

    mutating func changePassword(_ change: PasswordChange) throws -> [String] {
        try refuseNUL(in: change.passwordHash)
        guard var account = accounts[change.userID] else { throw StateSurfaceError.ownerGone }
        if let epoch = change.judgedEpoch, account.disabled || account.credentialEpoch != epoch {
            throw StateSurfaceError.ownerGone
        }
        var home: String?
        if let familyID = change.keptFamilyID {
            guard let family = families[familyID], family.isLive, family.userID == change.userID else {
                throw StateSurfaceError.ownerGone
            }
            home = family.binding
        }
        account.passwordHash = change.passwordHash
        account.credentialEpoch += 1
        account.version += 1
        accounts[change.userID] = account
        changes.append(.account(userID: change.userID))
        let closed = closeFamilies { $0.userID == change.userID && $0.id != change.keptFamilyID }
        // Only sessions of the kept family are kept: those of others end with their families.
        let kept = Set([home, change.keptSessionID].compactMap(\.self))
        let ended = endSessions(at: change.at) { session in
            session.userID == change.userID
                && (session.familyID == nil || session.familyID != change.keptFamilyID || !kept.contains(session.id))
        }
        revoke(families: closed, until: change.revokedUntil)
        return ended
    }

    mutating func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) -> Bool {
        guard var account = accounts[userID] else { return false }
        account.disabled = true
        account.credentialEpoch += 1
        account.version += 1
        accounts[userID] = account
        let closed = closeFamilies { $0.userID == userID }
        endSessions(at: at) { $0.userID == userID }
        revoke(families: closed, until: revokedUntil)
        revoke(
            Revocation(
                kind: .subject, id: userID, issuedUntil: at, accountVersion: account.version, expiresAt: revokedUntil))
        changes.append(.account(userID: userID))
        return true
    }
}

extension AccountRecord {
    /// Whether its owner made it, in a tenant of its own.
    fileprivate var isRegistered: Bool { !emailVerified && tenantID.hasPrefix("ten_") }

    /// Whether the e-mail, with ASCII letters in lower case, is this.
    fileprivate func hasEmail(ofKey key: String) -> Bool {
        email.utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }.elementsEqual(key.utf8)
    }
}

// MARK: The role
extension MemoryStore: AccountStore {
    package func insert(account: AccountRecord) async throws { try write { try $0.insert(account: account) } }

    package func account(userID: String) async throws -> AccountRecord? {
        try write { tables in
            tables.accountReads += 1
            return tables.accounts[userID]
        }
    }

    package func accounts(userIDs: [String]) async throws -> [AccountRecord] {
        let found = try write { tables -> [AccountRecord] in
            tables.accountReads += 1
            return Set(userIDs).compactMap { tables.accounts[$0] }
        }
        await reached(.accountsRead)
        return found
    }

    package func accounts(emailKey: String) async throws -> [AccountRecord] {
        try read { $0.accounts(emailKey: emailKey) }
    }

    package func accounts(tenantID: String?, limit: Int) async throws -> [AccountRecord] {
        try read { $0.accounts(tenantID: tenantID, limit: limit) }
    }

    package func replace(account record: AccountRecord) async throws -> Bool {
        try write { try $0.replace(account: record) }
    }

    package func changePassword(_ change: PasswordChange) async throws -> [String] {
        try write { try $0.changePassword(change) }
    }

    package func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        try write { $0.disable(userID: userID, at: at, revokedUntil: revokedUntil) }
    }

    package func identity(
        issuer: String, subject: String, tenantID: String, linking verifiedEmailKey: String?,
        create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord {
        let key = IdentityKey(issuer: issuer, subject: subject, tenantID: tenantID)
        if let known = try read({ $0.account(of: key) }) { return known }
        let created = create()
        return try write { try $0.account(of: key, linking: verifiedEmailKey, or: created) }
    }

    package func userIDs(issuer: String, subject: String) async throws -> [String] {
        try read { tables in
            tables.identities.filter { $0.key.issuer == issuer && $0.key.subject == subject }.map(\.value).sorted()
        }
    }

    package func accountsHave(scope: String) async throws -> Bool {
        try read { $0.accounts.values.contains { $0.scope.contains(scope) } }
    }
}
