import StateSurface

// MARK: In the tables
extension MemoryTables {
    mutating func insert(family: FamilyRecord, judged: JudgedOwner) throws {
        try refuseNUL(
            in: family.id, family.tenantID, family.userID, family.clientID, family.scope.joined(), family.binding,
            family.resource)
        try require(judged, userID: family.userID)
        guard families[family.id] == nil else { throw StateSurfaceError(.duplicate, "there is a family of this id") }
        try requireNew(token: family.currentHash)
        // Which key has signed its newest token is told, but not kept.
        families[family.id] = family
        families[family.id]?.tokenKey = nil
        if !family.currentHash.isEmpty { refreshTokens[family.currentHash] = (family.id, family.counter) }
    }

    /// Throws if the account, the client or the family that asks has changed since it was judged.
    private func require(_ judged: JudgedOwner, userID: String) throws {
        if let epoch = judged.credentialEpoch {
            guard let account = accounts[userID], !account.disabled, account.credentialEpoch == epoch else {
                throw StateSurfaceError.ownerGone
            }
        }
        if let clientID = judged.clientID, clients[clientID]?.disabled != false { throw StateSurfaceError.ownerGone }
        if let familyID = judged.familyID, families[familyID]?.isLive != true { throw StateSurfaceError.ownerGone }
    }

    private func requireNew(token hash: [UInt8]) throws {
        if refreshTokens[hash] != nil { throw StateSurfaceError(.duplicate, "the token is that of a family") }
    }

    func family(tokenHash: [UInt8]) -> (family: FamilyRecord, position: Int64)? {
        guard let token = refreshTokens[tokenHash], let family = families[token.familyID] else { return nil }
        return (family, token.position)
    }

    /// Changes what a rotation changes, and nothing else of the family.
    mutating func rotate(family record: FamilyRecord) throws -> Bool {
        guard var family = families[record.id], family.isLive, family.counter == record.counter - 1 else {
            return false
        }
        try requireNew(token: record.currentHash)
        family.currentHash = record.currentHash
        family.previousHash = record.previousHash
        family.successorSalt = record.successorSalt
        family.rotatedAt = record.rotatedAt
        family.absoluteExpiresAt = record.absoluteExpiresAt
        family.counter = record.counter
        family.tokenExpiresAt = record.tokenExpiresAt
        families[record.id] = family
        refreshTokens[record.currentHash] = (record.id, record.counter)
        if let tokenExpiresAt = record.tokenExpiresAt {
            changes.append(.familyRefreshed(id: record.id, tokenExpiresAt: tokenExpiresAt, key: record.tokenKey))
        }
        return true
    }

    mutating func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) -> Bool {
        guard let family = families[familyID], family.isLive else { return false }
        // One of the same second counts, because another key may have signed it.
        if family.tokenExpiresAt ?? .min <= tokenExpiresAt {
            families[familyID]?.tokenExpiresAt = tokenExpiresAt
            changes.append(.familyRefreshed(id: familyID, tokenExpiresAt: tokenExpiresAt, key: key))
        }
        return true
    }

    /// Also revokes a family that is not known, and says nothing of one that had ended before.
    mutating func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) -> [String] {
        let hadEnded = families[id]?.isLive == false
        families[id]?.isLive = false
        let ended = endSessions(at: at) { $0.familyID == id }
        if !hadEnded { revoke(families: [id], until: revokedUntil) }
        return ended
    }

    /// Marks live families as ended and returns their ids. Their sessions have to end next, and then their tokens to be
    /// revoked, in the order in which observers are told.
    mutating func closeFamilies(where isMeant: (FamilyRecord) -> Bool) -> [String] {
        let meant = families.values.filter { $0.isLive && isMeant($0) }.map(\.id).sorted()
        for id in meant { families[id]?.isLive = false }
        return meant
    }

    mutating func revoke(families ids: [String], until revokedUntil: Milliseconds) {
        for id in ids {
            revoke(Revocation(kind: .family, id: id, expiresAt: revokedUntil))
            changes.append(.familyEnded(id: id))
        }
    }

    /// Oldest first.
    func liveFamilies(where isMeant: (FamilyRecord) -> Bool) -> [FamilyRecord] {
        families.values.filter { $0.isLive && isMeant($0) }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }
}

// MARK: The role
extension MemoryStore: FamilyStore {
    package func insert(family: FamilyRecord, judged: JudgedOwner) async throws {
        try write { try $0.insert(family: family, judged: judged) }
    }

    package func family(id: String) async throws -> FamilyRecord? { try read { $0.families[id] } }

    package func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)? {
        try read { $0.family(tokenHash: tokenHash) }
    }

    package func rotate(family record: FamilyRecord) async throws -> Bool {
        try read { _ in }
        await reached(.beforeRotation)
        return try write { try $0.rotate(family: record) }
    }

    package func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool {
        try write { $0.extend(familyID: familyID, tokenExpiresAt: tokenExpiresAt, key: key) }
    }

    package func report(extensionOf sessionID: String, origin: String, tokenExpiresAt: Milliseconds) async throws {
        try write { tables in
            tables.changes.append(.sessionExtended(id: sessionID, origin: origin, tokenExpiresAt: tokenExpiresAt))
        }
    }

    package func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        try write { $0.endFamily(id: id, at: at, revokedUntil: revokedUntil) }
    }

    package func endReusedFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        try write { $0.endFamily(id: id, at: at, revokedUntil: revokedUntil) }
    }

    package func liveFamilies(userID: String) async throws -> [FamilyRecord] {
        try read { tables in tables.liveFamilies { $0.userID == userID } }
    }

    package func liveFamilies(provider: String, providerSession: String) async throws -> [FamilyRecord] {
        try read { tables in
            tables.liveFamilies {
                $0.signIn?.provider == provider && $0.signIn?.providerSession == providerSession
            }
        }
    }
}
