import StateSurface
import Testing

/// What every ``ArtifactStore`` promises.
package enum ArtifactStoreConformance {
    package typealias Store = any ArtifactStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Artifacts move by compare-and-set and belong to one user", artifacts)
    ]

    @Sendable private static func artifacts(_ store: Store) async throws {
        let draft = ArtifactRecord(
            tenantID: "acme", userID: "usr_a", name: "plan", version: 0, state: .active, content: "{}",
            updatedAt: Sample.now)
        let first = try #require(try await store.put(artifact: draft, expectedVersion: 0))
        #expect(first.version == 1 && first.state == .draft)
        #expect(try await store.put(artifact: draft, expectedVersion: 0) == nil)
        #expect(try await store.put(artifact: draft, expectedVersion: 2) == nil)
        #expect(try await store.put(artifact: draft, expectedVersion: 1)?.version == 2)
        #expect(try await store.put(artifact: draft, expectedVersion: nil)?.version == 3)
        #expect(try await store.artifact(tenantID: "acme", userID: "usr_b", name: "plan") == nil)
        #expect(try await store.artifacts(tenantID: "acme", userID: "usr_a", limit: 5).count == 1)

        func move(_ version: Int64, _ from: ArtifactRecord.State, _ to: ArtifactRecord.State) async throws -> Bool {
            try await store.transition(
                tenantID: "acme", userID: "usr_a", name: "plan", version: version, from: from, to: to,
                at: Sample.now) != nil
        }
        #expect(try await move(2, .draft, .active) == false)
        #expect(try await move(3, .draft, .active))
        #expect(try await move(3, .draft, .active) == false)
        #expect(try await store.artifact(tenantID: "acme", userID: "usr_a", name: "plan")?.state == .active)
    }
}
