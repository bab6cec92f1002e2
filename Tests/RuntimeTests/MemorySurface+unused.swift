import StateSurface

/// The parts of the store that the Runtime has nothing to do with.
extension MemorySurface {
    private var unused: StateSurfaceError { StateSurfaceError(.misconfigured, "not the Runtime's business") }

    func insert(account: AccountRecord) async throws { throw self.unused }
    func account(userID: String) async throws -> AccountRecord? { throw self.unused }
    func accounts(emailKey: String) async throws -> [AccountRecord] { throw self.unused }
    func accounts(limit: Int) async throws -> [AccountRecord] { throw self.unused }
    func replace(account record: AccountRecord) async throws -> Bool { throw self.unused }
    func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        throw self.unused
    }
    func identity(
        issuer: String, subject: String, tenantID: String, create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord { throw self.unused }
    func insert(client: ClientRecord) async throws { throw self.unused }
    func client(id: String) async throws -> ClientRecord? { throw self.unused }
    func clients(limit: Int) async throws -> [ClientRecord] { throw self.unused }
    func insert(family: FamilyRecord, judged: JudgedOwner) async throws { throw self.unused }
    func changePassword(_ change: PasswordChange) async throws -> [String] { throw self.unused }
    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8] { throw self.unused }
    func surplusSessions(userID: String, sparing: String, limit: Int) async throws -> [SurplusSession] {
        throw self.unused
    }
    func family(id: String) async throws -> FamilyRecord? { throw self.unused }
    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)? { throw self.unused }
    func rotate(family record: FamilyRecord) async throws -> Bool { throw self.unused }
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool { throw self.unused }
    func bind(familyID: String, to binding: String) async throws { throw self.unused }
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        throw self.unused
    }
    func liveFamilies(userID: String) async throws -> [FamilyRecord] { throw self.unused }
    func note(reach: TokenReach, goodUntil: Milliseconds) async throws { throw self.unused }
    func tokenReach(now: Milliseconds) async throws -> TokenReach? { throw self.unused }
    func revoke(_ revocation: Revocation) async throws { throw self.unused }
    func revocations(now: Milliseconds) async throws -> [Revocation] { throw self.unused }
    func registeredKeys() async throws -> Set<String> { throw self.unused }
    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool {
        throw self.unused
    }
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64 {
        throw self.unused
    }
}
