import StateSurface
import Testing

/// What every ``SingleUseStore`` promises.
package enum SingleUseStoreConformance {
    package typealias Store = any SingleUseStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A record put by one node is taken at another, once", takenOnce),
        StoreRule("An expired record is neither found nor taken", expired),
        StoreRule("An owner keeps the newest records of a kind", limit),
        StoreRule("A record is raised to the greatest payload, and lasts as long as the longest", raised),
        StoreRule("Of many who say that something happened, one is the first", first),
        StoreRule("The store has one time for all nodes, which does not go back", time),
    ]

    private static func record(
        _ seed: Int, kind: String = "pending_login", owner: String = "ses_a",
        expiresAt: Milliseconds = Sample.now + 600_000
    ) -> SingleUseRecord {
        SingleUseRecord(
            kind: kind, hash: Sample.hash(seed), owner: owner, payload: Array("{\"n\":\(seed)}".utf8),
            expiresAt: expiresAt)
    }

    @Sendable private static func takenOnce(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await stores[0].put(singleUse: record(1), limit: 10, now: Sample.now)
        let hash = Sample.hash(1)
        #expect(try await stores[1].singleUse(kind: "pending_login", hash: hash, now: Sample.now) == record(1))
        #expect(try await stores[1].take(singleUse: "passkey", hash: hash, now: Sample.now) == nil)
        let taken = try await withThrowingTaskGroup(of: SingleUseRecord?.self) { group in
            for index in 0..<20 {
                group.addTask {
                    try await stores[index % 2].take(singleUse: "pending_login", hash: hash, now: Sample.now)
                }
            }
            return try await group.reduce(into: [SingleUseRecord]()) { if let one = $1 { $0.append(one) } }
        }
        #expect(taken == [record(1)])
        #expect(try await stores[0].singleUse(kind: "pending_login", hash: hash, now: Sample.now) == nil)
    }

    @Sendable private static func expired(_ store: Store) async throws {
        try await store.put(singleUse: record(1), limit: 10, now: Sample.now)
        let end = Sample.now + 600_000
        #expect(try await store.singleUse(kind: "pending_login", hash: Sample.hash(1), now: end) == nil)
        #expect(try await store.take(singleUse: "pending_login", hash: Sample.hash(1), now: end) == nil)
        #expect(try await store.take(singleUse: "pending_login", hash: Sample.hash(1), now: end - 1) != nil)
    }

    @Sendable private static func limit(_ store: Store) async throws {
        try await store.put(singleUse: record(50, owner: "ses_b"), limit: 3, now: Sample.now)
        try await store.put(singleUse: record(51, kind: "passkey"), limit: 3, now: Sample.now)
        for seed in 1...5 {
            try await store.put(singleUse: record(seed), limit: 3, now: Sample.now + Int64(seed))
        }
        for seed in 1...5 {
            let found = try await store.singleUse(
                kind: "pending_login", hash: Sample.hash(seed), now: Sample.now + 10)
            #expect((found != nil) == (seed > 2))
        }
        #expect(try await store.singleUse(kind: "pending_login", hash: Sample.hash(50), now: Sample.now) != nil)
        #expect(try await store.singleUse(kind: "passkey", hash: Sample.hash(51), now: Sample.now) != nil)
    }

    @Sendable private static func raised(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        func payload() async throws -> [UInt8]? {
            try await stores[1].singleUse(kind: "end", hash: Sample.hash(1), now: Sample.now)?.payload
        }
        for (place, byte) in [UInt8(3), 200, 7].enumerated() {
            var raised = record(1, kind: "end", owner: "", expiresAt: Sample.now + 100 - Int64(place))
            raised.payload = [0, byte]
            try await stores[0].raise(singleUse: raised)
            #expect(try await payload() == [0, max(byte, place == 0 ? 3 : 200)])
        }
        let last = Sample.now + 99
        #expect(try await stores[1].singleUse(kind: "end", hash: Sample.hash(1), now: last) != nil)
        #expect(try await stores[1].singleUse(kind: "end", hash: Sample.hash(1), now: last + 1) == nil)
    }

    @Sendable private static func first(_ store: Store) async throws {
        let firsts = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await store.first(
                        kind: "logout", hash: Sample.hash(7), expiresAt: Sample.now + 60_000)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(firsts == 1)
        #expect(try await store.first(kind: "logout", hash: Sample.hash(8), expiresAt: Sample.now + 60_000))
    }

    @Sendable private static func time(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        var last: Milliseconds = 1
        for index in 0..<20 {
            let time = try await stores[index % 2].storeTime()
            #expect(time >= last)
            last = time
        }
    }
}
