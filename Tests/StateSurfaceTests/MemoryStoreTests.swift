import StateSurfaceTesting
import Testing

@Suite("The store in memory keeps the rules of its roles, and those that they keep together")
struct MemoryStoreTests {
    /// Checks a rule of a role on a fresh store. Its nodes share one object.
    private func check<Store>(
        _ rule: StoreRule<Store>, as role: @escaping @Sendable (MemoryStore) -> Store
    ) async throws {
        let store = MemoryStore()
        try await rule.check(StorePlace { role(store) })
    }

    @Test(arguments: SessionStoreConformance.rules)
    func sessions(_ rule: StoreRule<SessionStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: AccountStoreConformance.rules)
    func accounts(_ rule: StoreRule<AccountStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: ClientStoreConformance.rules)
    func clients(_ rule: StoreRule<ClientStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: FamilyStoreConformance.rules)
    func families(_ rule: StoreRule<FamilyStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: RevocationStoreConformance.rules)
    func revocations(_ rule: StoreRule<RevocationStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: ExecutionStoreConformance.rules)
    func executions(_ rule: StoreRule<ExecutionStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: ArtifactStoreConformance.rules)
    func artifacts(_ rule: StoreRule<ArtifactStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: TicketStoreConformance.rules)
    func tickets(_ rule: StoreRule<TicketStoreConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: KeyRegistryConformance.rules)
    func keys(_ rule: StoreRule<KeyRegistryConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: ChangeFeedConformance.rules)
    func feed(_ rule: StoreRule<ChangeFeedConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: JudgedOwnerConformance.rules)
    func judgements(_ rule: StoreRule<JudgedOwnerConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: HomeExpiryConformance.rules)
    func homes(_ rule: StoreRule<HomeExpiryConformance.Store>) async throws {
        try await check(rule) { $0 }
    }

    @Test(arguments: StateSurfaceConformance.rules)
    func together(_ rule: StoreRule<StateSurfaceConformance.Store>) async throws {
        try await check(rule) { $0 }
    }
}
