import StateSurface
import Testing

/// What every ``ClientStore`` promises.
package enum ClientStoreConformance {
    package typealias Store = any ClientStore & RevocationStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Clients are kept", clients)
    ]

    @Sendable private static func clients(_ store: Store) async throws {
        let client = ClientRecord(
            clientID: "cli_a", tenantID: "acme", name: "ci", secretHash: Sample.hash(1), scope: ["a", "b"],
            createdAt: Sample.now)
        try await store.insert(client: client)
        #expect(try await store.client(id: "cli_a") == client)
        #expect(try await store.client(id: "cli_b") == nil)
        #expect(try await store.clients(limit: 5) == [client])
        await #expect(throws: StateSurfaceError(.duplicate, "")) { try await store.insert(client: client) }
        #expect(try await !store.disable(clientID: "cli_b", at: Sample.now, revokedUntil: Sample.now + 900))
        #expect(try await store.disable(clientID: "cli_a", at: Sample.now, revokedUntil: Sample.now + 900))
        #expect(try await store.client(id: "cli_a")?.disabled == true)
        let revoked = try await store.revocations(now: Sample.now)
        #expect(revoked.map(\.id) == ["cli_a"] && revoked.first?.issuedUntil == .max)
    }
}
