import StateSurface
import Testing

/// What every ``CounterStore`` promises.
package enum CounterStoreConformance {
    package typealias Store = any CounterStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Counters add up within their window and forget outside it", counters),
        StoreRule("What a counter's window has passed is over, also when the window becomes longer", longerWindow),
        StoreRule("Nodes of one store have one secret in common, the first candidate", sharedSecret),
    ]

    @Sendable private static func counters(_ store: Store) async throws {
        func count(_ adding: Int64, at offset: Int64, key: String = "k") async throws -> Int64 {
            try await store.count(key: key, adding: adding, window: 60_000, now: Sample.now + offset)
        }
        #expect(try await count(0, at: 0) == 0)
        #expect(try await count(2, at: 0) == 2)
        #expect(try await count(3, at: 30_000) == 5)
        #expect(try await count(1, at: 30_000, key: "other") == 1)
        #expect(try await count(0, at: 59_999) == 5)
        #expect(try await count(0, at: 61_001) == 3)
        #expect(try await count(0, at: 92_000) == 0)
    }

    @Sendable private static func longerWindow(_ store: Store) async throws {
        #expect(try await store.count(key: "k", adding: 1, window: 60_000, now: Sample.now) == 1)
        let later = Sample.now + 61_000
        #expect(try await store.count(key: "k", adding: 0, window: 3_600_000, now: later) == 0)
        #expect(try await store.count(key: "k", adding: 2, window: 3_600_000, now: later) == 2)
    }

    @Sendable private static func sharedSecret(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        let secrets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for index in 0..<8 {
                group.addTask {
                    try await stores[index % 2].sharedSecret(name: "s", candidate: Sample.hash(index))
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(secrets.count == 1)
        #expect(try await stores[0].sharedSecret(name: "t", candidate: [1]) == [1])
    }
}
