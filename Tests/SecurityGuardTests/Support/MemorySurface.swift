import SecurityGuard
import StateSurface
import Synchronization

/// The roles of a store that SecurityGuard uses, in memory.
final class MemorySurface: GuardStore {
    struct Tables: Sendable {
        var accounts: [String: AccountRecord] = [:]
        var identities: [String: String] = [:]
        var clients: [String: ClientRecord] = [:]
        var families: [String: FamilyRecord] = [:]
        var tokens: [[UInt8]: (family: String, position: Int64)] = [:]
        var revocations: Set<Revocation> = []
        var keys: Set<String> = []
        var reaches: [TokenReach: Int64] = [:]
        var sessions: [String: (userID: String, familyID: String?)] = [:]
        var observers: [Int: @Sendable (Change) -> Void] = [:]
        var nextObserver = 0
    }

    let tables = Mutex(Tables())
    /// While set, every call fails.
    let isDown = Atomic<Bool>(false)
    /// Awaited between reading a family and replacing it, so that racers meet.
    let beforeRotate = Mutex<(@Sendable () async -> Void)?>(nil)
    /// Awaited after several accounts were read by their ids.
    let afterAccounts = Mutex<(@Sendable () async -> Void)?>(nil)
    /// How often accounts were read by their ids.
    let accountReads = Atomic<Int>(0)

    private func check() throws {
        if isDown.load(ordering: .relaxed) { throw StateSurfaceError(.unavailable, "down") }
    }

    func tell(_ change: Change) {
        let observers = tables.withLock { Array($0.observers.values) }
        for observer in observers { observer(change) }
    }

    // MARK: The feed
    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        let id = tables.withLock { tables in
            tables.nextObserver += 1
            tables.observers[tables.nextObserver] = observer
            return tables.nextObserver
        }
        return Subscription { [weak self] in self?.tables.withLock { $0.observers[id] = nil } }
    }
    func sinceLastBeat() -> Duration { .zero }
    func feedIsLost() -> Bool { false }

    // MARK: Accounts, identities, clients
    func insert(account: AccountRecord) async throws {
        try check()
        try tables.withLock { tables in
            let isTaken = tables.accounts.values.contains {
                $0.tenantID == account.tenantID && $0.emailKey == account.emailKey && !account.emailKey.isEmpty
            }
            if isTaken { throw StateSurfaceError(.duplicate, "e-mail") }
            tables.accounts[account.userID] = account
        }
    }
    func account(userID: String) async throws -> AccountRecord? {
        try check()
        accountReads.add(1, ordering: .relaxed)
        return tables.withLock { $0.accounts[userID] }
    }
    func accounts(emailKey: String) async throws -> [AccountRecord] {
        try check()
        return tables.withLock { tables in
            tables.accounts.values.filter { !emailKey.isEmpty && $0.emailKey == emailKey }
                .sorted { $0.tenantID < $1.tenantID }
        }
    }
    func accounts(userIDs: [String]) async throws -> [AccountRecord] {
        try check()
        accountReads.add(1, ordering: .relaxed)
        let accounts = tables.withLock { tables in Set(userIDs).compactMap { tables.accounts[$0] } }
        await afterAccounts.withLock { $0 }?()
        return accounts
    }

    func accounts(tenantID: String?, limit: Int) async throws -> [AccountRecord] {
        tables.withLock { tables in
            Array(tables.accounts.values.filter { tenantID == nil || $0.tenantID == tenantID }.prefix(limit))
        }
    }
    func replace(account record: AccountRecord) async throws -> Bool {
        try check()
        let isReplaced = tables.withLock { tables in
            guard tables.accounts[record.userID]?.version == record.version else { return false }
            var stored = record
            stored.version += 1
            stored.credentialEpoch = tables.accounts[record.userID]?.credentialEpoch ?? 0
            tables.accounts[record.userID] = stored
            return true
        }
        if isReplaced { tell(.account(userID: record.userID)) }
        return isReplaced
    }
    func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        try check()
        let families = tables.withLock { $0.families.values.filter { $0.userID == userID }.map(\.id) }
        for id in families { _ = try await endFamily(id: id, at: at, revokedUntil: revokedUntil) }
        let version = tables.withLock { tables -> Int64? in
            tables.accounts[userID]?.disabled = true
            tables.accounts[userID]?.credentialEpoch += 1
            tables.accounts[userID]?.version += 1
            return tables.accounts[userID]?.version
        }
        try await revoke(
            Revocation(
                kind: .subject, id: userID, issuedUntil: at, accountVersion: version, expiresAt: revokedUntil))
        return version != nil
    }
    func changePassword(_ change: PasswordChange) async throws -> [String] {
        try check()
        let families = try tables.withLock { tables -> [String] in
            guard var account = tables.accounts[change.userID],
                change.judgedEpoch.map({ $0 == account.credentialEpoch && !account.disabled }) ?? true,
                change.keptFamilyID.map({ tables.families[$0]?.isLive == true }) ?? true
            else { throw StateSurfaceError.ownerGone }
            account.passwordHash = change.passwordHash
            account.credentialEpoch += 1
            account.version += 1
            tables.accounts[change.userID] = account
            return tables.families.values.filter {
                $0.userID == change.userID && $0.isLive && $0.id != change.keptFamilyID
            }.map(\.id)
        }
        var ended: [String] = []
        for id in families {
            ended += try await endFamily(id: id, at: change.at, revokedUntil: change.revokedUntil)
        }
        return ended
            + tables.withLock { tables in
                let others = tables.sessions.filter { id, owner in
                    owner.userID == change.userID
                        && (owner.familyID == nil || owner.familyID != change.keptFamilyID
                            || id != change.keptSessionID)
                }
                for id in others.keys { tables.sessions[id] = nil }
                return others.keys
            }
    }
    func identity(
        issuer: String, subject: String, tenantID: String, linking verifiedEmailKey: String?,
        create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord {
        try check()
        return tables.withLock { tables in
            let key = "\(issuer)\n\(subject)\n\(tenantID)"
            if let id = tables.identities[key], let account = tables.accounts[id] { return account }
            let namesakes = tables.accounts.values.filter { account in
                account.tenantID == tenantID && account.emailVerified
                    && verifiedEmailKey.map { Accounts.emailKey(account.email) == $0 } ?? false
            }
            let linked =
                namesakes.first { $0.emailKey == verifiedEmailKey } ?? (namesakes.count == 1 ? namesakes.first : nil)
            let account = linked ?? create()
            tables.accounts[account.userID] = account
            tables.identities[key] = account.userID
            return account
        }
    }
    func userIDs(issuer: String, subject: String) async throws -> [String] {
        tables.withLock { tables in
            tables.identities.filter { $0.key.hasPrefix("\(issuer)\n\(subject)\n") }.map(\.value).sorted()
        }
    }
    func accountsHave(scope: String) async throws -> Bool {
        tables.withLock { tables in tables.accounts.values.contains { $0.scope.contains(scope) } }
    }
    func insert(client: ClientRecord) async throws {
        try check()
        try tables.withLock { tables in
            guard tables.clients[client.clientID] == nil else { throw StateSurfaceError(.duplicate, "client") }
            tables.clients[client.clientID] = client
        }
    }
    func client(id: String) async throws -> ClientRecord? {
        try check()
        return tables.withLock { $0.clients[id] }
    }
    func clients(limit: Int) async throws -> [ClientRecord] { tables.withLock { Array($0.clients.values) } }
    func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        try check()
        let families = tables.withLock { tables -> [String]? in
            guard tables.clients[clientID] != nil else { return nil }
            tables.clients[clientID]?.disabled = true
            return tables.families.values.filter { $0.clientID == clientID && $0.isLive }.map(\.id)
        }
        guard let families else { return false }
        for id in families { _ = try await endFamily(id: id, at: at, revokedUntil: revokedUntil) }
        try await revoke(Revocation(kind: .subject, id: clientID, issuedUntil: .max, expiresAt: revokedUntil))
        return true
    }

    // MARK: Families and revocations
    func insert(family: FamilyRecord, judged: JudgedOwner) async throws {
        try check()
        try tables.withLock { tables in
            if let epoch = judged.credentialEpoch {
                guard let account = tables.accounts[family.userID], !account.disabled, account.credentialEpoch == epoch
                else { throw StateSurfaceError.ownerGone }
            }
            if let id = judged.clientID, tables.clients[id]?.disabled != false { throw StateSurfaceError.ownerGone }
            let isTaken = tables.families[family.id] != nil || tables.tokens[family.currentHash] != nil
            guard !isTaken else { throw StateSurfaceError(.duplicate, "family") }
            tables.families[family.id] = family
            if !family.currentHash.isEmpty { tables.tokens[family.currentHash] = (family.id, family.counter) }
        }
    }
    func family(id: String) async throws -> FamilyRecord? {
        try check()
        return tables.withLock { $0.families[id] }
    }
    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)? {
        try check()
        return tables.withLock { tables in
            guard let token = tables.tokens[tokenHash], let family = tables.families[token.family] else { return nil }
            return (family, token.position)
        }
    }
    func rotate(family record: FamilyRecord) async throws -> Bool {
        try check()
        if let hook = beforeRotate.withLock({ $0 }) { await hook() }
        let isReplaced = tables.withLock { tables in
            guard let stored = tables.families[record.id], stored.isLive, stored.counter == record.counter - 1 else {
                return false
            }
            var next = record
            next.binding = stored.binding
            tables.families[record.id] = next
            tables.tokens[record.currentHash] = (record.id, record.counter)
            return true
        }
        if isReplaced, let tokenExpiresAt = record.tokenExpiresAt {
            tell(.familyRefreshed(id: record.id, tokenExpiresAt: tokenExpiresAt, key: record.tokenKey))
        }
        return isReplaced
    }
    func report(extensionOf sessionID: String, origin: String, tokenExpiresAt: Milliseconds) async throws {
        try check()
        tell(.sessionExtended(id: sessionID, origin: origin, tokenExpiresAt: tokenExpiresAt))
    }
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool {
        let (isLive, isLonger) = tables.withLock { tables -> (Bool, Bool) in
            guard let family = tables.families[familyID], family.isLive else { return (false, false) }
            guard family.tokenExpiresAt ?? .min <= tokenExpiresAt else { return (true, false) }
            tables.families[familyID]?.tokenExpiresAt = tokenExpiresAt
            tables.families[familyID]?.tokenKey = key
            return (true, true)
        }
        if isLonger { tell(.familyRefreshed(id: familyID, tokenExpiresAt: tokenExpiresAt, key: key)) }
        return isLive
    }
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        try check()
        let ended = tables.withLock { tables -> [String] in
            tables.families[id]?.isLive = false
            let ended = tables.sessions.filter { $0.value.familyID == id }.map(\.key)
            for session in ended { tables.sessions[session] = nil }
            return ended
        }
        try await revoke(Revocation(kind: .family, id: id, expiresAt: revokedUntil))
        tell(.familyEnded(id: id))
        return ended
    }
    func endReusedFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        try await endFamily(id: id, at: at, revokedUntil: revokedUntil)
    }
    func liveFamilies(userID: String) async throws -> [FamilyRecord] {
        tables.withLock { $0.families.values.filter { $0.userID == userID && $0.isLive } }
    }
    func liveFamilies(provider: String, providerSession: String) async throws -> [FamilyRecord] {
        tables.withLock { tables in
            tables.families.values.filter {
                $0.isLive && $0.signIn?.provider == provider && $0.signIn?.providerSession == providerSession
            }
        }
    }
    func note(reach: TokenReach, goodUntil: Milliseconds) async throws {
        try check()
        let isNews = tables.withLock { tables in
            defer { tables.reaches[reach] = max(tables.reaches[reach] ?? .min, goodUntil) }
            return tables.reaches[reach] == nil
        }
        if isNews { tell(.tokenReach(reach)) }
    }
    func tokenReach(now: Milliseconds) async throws -> TokenReach? {
        try check()
        return tables.withLock { tables in
            let current = tables.reaches.filter { $0.value > now }.keys
            return current.dropFirst().reduce(current.first) { $0?.joined(with: $1) }
        }
    }
    func revoke(_ revocation: Revocation) async throws {
        try check()
        var revocation = revocation
        if revocation.kind != .token {
            let reach = tables.withLock { $0.reaches.values.max() } ?? .min
            revocation.expiresAt = max(revocation.expiresAt, reach)
        }
        let stored = tables.withLock { tables -> Revocation in
            if let known = tables.revocations.first(where: { $0.kind == revocation.kind && $0.id == revocation.id }) {
                tables.revocations.remove(known)
                revocation.issuedUntil = max(revocation.issuedUntil, known.issuedUntil)
                revocation.expiresAt = max(revocation.expiresAt, known.expiresAt)
                revocation.accountVersion = [revocation.accountVersion, known.accountVersion].compactMap(\.self).max()
            }
            tables.revocations.insert(revocation)
            return revocation
        }
        tell(.revoked(stored))
    }
    func revocations(now: Milliseconds) async throws -> [Revocation] {
        try check()
        return tables.withLock { $0.revocations.filter { $0.expiresAt > now } }
    }
    func registeredKeys() async throws -> Set<String> { tables.withLock { $0.keys } }
    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool {
        tables.withLock { tables in
            guard tables.keys.isEmpty || !tables.keys.isDisjoint(with: held.union([signingKey])) else { return false }
            tables.keys.subtract(superseded.subtracting([signingKey]))
            tables.keys.insert(signingKey)
            return true
        }
    }
}
