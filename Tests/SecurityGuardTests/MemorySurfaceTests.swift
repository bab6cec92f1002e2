import StateSurfaceTesting
import Testing

@Suite("SecurityGuard's store in memory keeps the rules of its roles")
struct MemorySurfaceTests {
    @Test(arguments: AccountStoreConformance.rules)
    func accounts(_ rule: StoreRule<AccountStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }

    @Test(arguments: ClientStoreConformance.rules)
    func clients(_ rule: StoreRule<ClientStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }

    @Test(arguments: FamilyStoreConformance.rules)
    func families(_ rule: StoreRule<FamilyStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }

    @Test(arguments: RevocationStoreConformance.rules)
    func revocations(_ rule: StoreRule<RevocationStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }

    @Test(arguments: KeyRegistryConformance.rules)
    func keys(_ rule: StoreRule<KeyRegistryConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }
}
