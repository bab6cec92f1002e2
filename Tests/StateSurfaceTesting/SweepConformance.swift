import StateSurface
import Testing

/// How long every store keeps what it counts and what was done once, which ``SessionStore/expireSessions(now:limit:)``
/// sweeps away.
package enum SweepConformance {
    package typealias Store = any SessionStore & CounterStore & SingleUseStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Counters and what was done once are kept for the nodes whose clocks are an hour behind", sweptLate)
    ]

    @Sendable private static func sweptLate(_ store: Store) async throws {
        func count(_ adding: Int64) async throws -> Int64 {
            try await store.count(key: "k", adding: adding, window: 60_000, now: Sample.now)
        }
        func isFirst() async throws -> Bool {
            try await store.first(kind: "logout", hash: Sample.hash(2), expiresAt: Sample.now + 61_000)
        }
        #expect(try await count(1) == 1)
        #expect(try await isFirst())
        _ = try await store.expireSessions(now: Sample.now + 61_000 + 3_599_999, limit: 10)
        #expect(try await count(0) == 1)
        #expect(try await !isFirst())
        _ = try await store.expireSessions(now: Sample.now + 61_000 + 3_600_000, limit: 10)
        #expect(try await count(0) == 0)
        #expect(try await isFirst())
    }
}
