import StateSurfaceTesting
import Testing

@testable import StateSurface

// One rule at a time: each opens pools of its own, and a PostgreSQL has a bounded number of connections.
@Suite("SQLite and PostgreSQL keep the rules of every role", .serialized)
struct ConformanceTests {
    @Test(arguments: Backend.available, SessionStoreConformance.rules)
    func sessions(_ backend: Backend, _ rule: StoreRule<SessionStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, AccountStoreConformance.rules)
    func accounts(_ backend: Backend, _ rule: StoreRule<AccountStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, ClientStoreConformance.rules)
    func clients(_ backend: Backend, _ rule: StoreRule<ClientStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, FamilyStoreConformance.rules)
    func families(_ backend: Backend, _ rule: StoreRule<FamilyStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, RevocationStoreConformance.rules)
    func revocations(_ backend: Backend, _ rule: StoreRule<RevocationStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, ExecutionStoreConformance.rules)
    func executions(_ backend: Backend, _ rule: StoreRule<ExecutionStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, ArtifactStoreConformance.rules)
    func artifacts(_ backend: Backend, _ rule: StoreRule<ArtifactStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, TicketStoreConformance.rules)
    func tickets(_ backend: Backend, _ rule: StoreRule<TicketStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, SingleUseStoreConformance.rules)
    func singleUse(_ backend: Backend, _ rule: StoreRule<SingleUseStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, AgentStoreConformance.rules)
    func agents(_ backend: Backend, _ rule: StoreRule<AgentStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, PasskeyStoreConformance.rules)
    func passkeys(_ backend: Backend, _ rule: StoreRule<PasskeyStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, DeliveryStoreConformance.rules)
    func deliveries(_ backend: Backend, _ rule: StoreRule<DeliveryStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, ListingStoreConformance.rules)
    func listings(_ backend: Backend, _ rule: StoreRule<ListingStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, EventConformance.rules)
    func events(_ backend: Backend, _ rule: StoreRule<EventConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, KeyRegistryConformance.rules)
    func keys(_ backend: Backend, _ rule: StoreRule<KeyRegistryConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, CounterStoreConformance.rules)
    func counters(_ backend: Backend, _ rule: StoreRule<CounterStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, LoginStoreConformance.rules)
    func transactions(_ backend: Backend, _ rule: StoreRule<LoginStoreConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, StoreTransactionConformance.rules)
    func transactionsOfMore(_ backend: Backend, _ rule: StoreRule<StoreTransactionConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, JudgedOwnerConformance.rules)
    func judgements(_ backend: Backend, _ rule: StoreRule<JudgedOwnerConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, HomeExpiryConformance.rules)
    func homes(_ backend: Backend, _ rule: StoreRule<HomeExpiryConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, StateSurfaceConformance.rules)
    func together(_ backend: Backend, _ rule: StoreRule<StateSurfaceConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, SweepConformance.rules)
    func sweeps(_ backend: Backend, _ rule: StoreRule<SweepConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }

    @Test(arguments: Backend.available, LifecycleConformance.rules)
    func lifecycle(_ backend: Backend, _ rule: StoreRule<LifecycleConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }
}

@Suite("SQLite and PostgreSQL keep the rules of the feed", .serialized)
struct FeedConformanceTests {
    @Test(arguments: Backend.available, ChangeFeedConformance.rules)
    func feed(_ backend: Backend, _ rule: StoreRule<ChangeFeedConformance.Store>) async throws {
        try await backend.check(rule) { $0 }
    }
}
