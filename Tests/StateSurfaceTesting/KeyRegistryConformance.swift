import StateSurface
import Testing

/// What every ``KeyRegistry`` promises.
package enum KeyRegistryConformance {
    package typealias Store = any KeyRegistry

    package static let rules: [StoreRule<Store>] = [
        StoreRule("The first node's key counts; a rotation moves on from it; a stranger is refused", keys),
        StoreRule("Of many nodes that bring keys of their own at once, one is accepted", keyRace),
    ]

    @Sendable private static func keys(_ place: StorePlace<Store>) async throws {
        let store = try await place.open()
        #expect(try await store.registeredKeys().isEmpty)
        #expect(try await store.register(signingKey: "k1", held: ["k1"], superseded: []))
        #expect(try await store.register(signingKey: "k1", held: ["k1", "k2"], superseded: []))
        #expect(try await store.register(signingKey: "x", held: ["x"], superseded: ["k1"]) == false)
        #expect(try await store.register(signingKey: "k2", held: ["k1", "k2"], superseded: ["k1"]))
        #expect(try await place.open().registeredKeys() == ["k2"])
        // A node that knows only the key before it is no longer one of them.
        #expect(try await store.register(signingKey: "k1", held: ["k1"], superseded: []) == false)
    }

    @Sendable private static func keyRace(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        let winners = try await withThrowingTaskGroup(of: String?.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let isFirst = try await stores[index % 2].register(
                        signingKey: "k\(index)", held: ["k\(index)"], superseded: [])
                    return isFirst ? "k\(index)" : nil
                }
            }
            return try await group.reduce(into: Set<String>()) { if let key = $1 { $0.insert(key) } }
        }
        #expect(winners.count == 1)
        #expect(try await stores[0].registeredKeys() == winners)
    }
}
