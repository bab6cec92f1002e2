import StateSurfaceTesting
import Testing

@Suite("The Runtime's store in memory keeps the rules of its roles")
struct MemorySurfaceTests {
    @Test(arguments: SessionStoreConformance.rules)
    func sessions(_ rule: StoreRule<SessionStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }

    @Test(arguments: ExecutionStoreConformance.rules)
    func executions(_ rule: StoreRule<ExecutionStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }

    @Test(arguments: ArtifactStoreConformance.rules)
    func artifacts(_ rule: StoreRule<ArtifactStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }

    @Test(arguments: TicketStoreConformance.rules)
    func tickets(_ rule: StoreRule<TicketStoreConformance.Store>) async throws {
        let store = MemorySurface()
        try await rule.check(StorePlace { store })
    }
}
