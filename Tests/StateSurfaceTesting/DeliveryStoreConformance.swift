import StateSurface
import Testing

/// What every ``DeliveryStore`` promises.
package enum DeliveryStoreConformance {
    package typealias Store = any DeliveryStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Deliveries wait for their receiver in the order in which they were stored", order),
        StoreRule("A delivery is stored once, however often it is given", once),
        StoreRule("A receiver has at most so many that wait, and the others have theirs", bounded),
        StoreRule("What was delivered is gone, what failed waits, what was given up is a dead letter", settled),
        StoreRule("What nobody sends any more is buried, and dead letters go in their time", swept),
        StoreRule("Of many nodes one delivers, until it lets go or its time is over", lease),
    ]

    private static func delivery(
        _ id: String, to receiver: String = "r1", lane: String = "ses_a", at: Milliseconds = Sample.now
    ) -> DeliveryRecord {
        DeliveryRecord(
            id: id, receiver: receiver, lane: lane, eventID: "evt_\(id)", payload: "{\"n\":\"\(id)\"}",
            createdAt: at, dueAt: at)
    }

    @Sendable private static func order(_ place: StorePlace<Store>) async throws {
        let (one, other) = (try await place.open(), try await place.open())
        #expect(try await one.newestDelivery() == 0)
        #expect(try await one.enqueue(deliveries: [], limit: 10) == 0)
        #expect(try await one.enqueue(deliveries: [delivery("c"), delivery("a")], limit: 10) == 0)
        #expect(
            try await other.enqueue(deliveries: [delivery("x", to: "r2"), delivery("b")], limit: 10) == 0)
        let waiting = try await one.deliveries(receiver: "r1", limit: 10)
        #expect(waiting.map(\.id) == ["c", "a", "b"])
        #expect(waiting.map(\.sequence) == waiting.map(\.sequence).sorted() && waiting.allSatisfy { $0.sequence > 0 })
        #expect(try await one.deliveries(receiver: "r1", limit: 2).map(\.id) == ["c", "a"])
        #expect(try await one.deliveries(receiver: "r3", limit: 10).isEmpty)
        #expect(try await other.newestDelivery() == waiting.last?.sequence)
        var first = waiting.first
        first?.sequence = 0
        #expect(first == delivery("c"))
    }

    @Sendable private static func once(_ store: Store) async throws {
        _ = try await store.enqueue(deliveries: [delivery("a"), delivery("b")], limit: 3)
        // The one that is known takes no room.
        #expect(
            try await store.enqueue(deliveries: [delivery("a"), delivery("b"), delivery("c")], limit: 3) == 0)
        #expect(try await store.deliveries(receiver: "r1", limit: 10).map(\.id) == ["a", "b", "c"])
    }

    @Sendable private static func bounded(_ store: Store) async throws {
        let many = (0..<5).map { delivery("\($0)") } + [delivery("x", to: "r2")]
        #expect(try await store.enqueue(deliveries: many, limit: 3) == 2)
        #expect(try await store.deliveries(receiver: "r1", limit: 10).map(\.id) == ["0", "1", "2"])
        #expect(try await store.deliveries(receiver: "r2", limit: 10).map(\.id) == ["x"])
        try await store.settle(deliveries: [.delivered(id: "0")])
        #expect(try await store.enqueue(deliveries: [delivery("7"), delivery("8")], limit: 3) == 1)
        #expect(try await store.deliveries(receiver: "r1", limit: 10).map(\.id) == ["1", "2", "7"])
    }

    @Sendable private static func settled(_ place: StorePlace<Store>) async throws {
        let (one, other) = (try await place.open(), try await place.open())
        _ = try await one.enqueue(deliveries: ["a", "b", "c"].map { delivery($0) }, limit: 10)
        try await one.settle(deliveries: [
            .delivered(id: "a"), .retry(id: "b", attempts: 3, dueAt: Sample.now + 5),
            .deadLettered(id: "c", reason: "gone", at: Sample.now + 9),
        ])
        let waiting = try await other.deliveries(receiver: "r1", limit: 10)
        #expect(waiting.map(\.id) == ["b"])
        #expect(waiting.first?.attempts == 3 && waiting.first?.dueAt == Sample.now + 5)
        let dead = try await other.deadDeliveries(limit: 10)
        #expect(dead.map(\.delivery.id) == ["c"] && dead.first?.reason == "gone")
        try await other.settle(deliveries: [.delivered(id: "nobody's")])
    }

    @Sendable private static func swept(_ store: Store) async throws {
        _ = try await store.enqueue(
            deliveries: [delivery("a"), delivery("b", to: "r9"), delivery("c", at: Sample.now + 1)], limit: 10)
        func sweep(_ created: Milliseconds, _ deadLettered: Milliseconds, at: Milliseconds) async throws -> Int {
            try await store.sweepDeliveries(createdUntil: created, deadLetteredUntil: deadLettered, at: at)
        }
        #expect(try await sweep(Sample.now - 1, 0, at: Sample.now) == 0)
        #expect(try await sweep(Sample.now, 0, at: Sample.now + 50) == 2)
        #expect(try await sweep(Sample.now, 0, at: Sample.now + 60) == 0)
        #expect(try await store.deliveries(receiver: "r1", limit: 10).map(\.id) == ["c"])
        #expect(try await store.deadDeliveries(limit: 10).map(\.reason) == ["expired", "expired"])
        _ = try await sweep(0, Sample.now + 49, at: Sample.now + 70)
        #expect(try await store.deadDeliveries(limit: 1).count == 1)
        _ = try await sweep(0, Sample.now + 50, at: Sample.now + 70)
        #expect(try await store.deadDeliveries(limit: 10).isEmpty)
    }

    @Sendable private static func lease(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        func lease(_ node: Int, at now: Milliseconds) async throws -> Bool {
            try await stores[node % 2].leaseDeliveries(nodeID: "n\(node)", now: now, until: now + 30)
        }
        let winners = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
            for node in 0..<10 { group.addTask { (node, try await lease(node, at: Sample.now)) } }
            return try await group.reduce(into: [Int]()) { if $1.1 { $0.append($1.0) } }
        }
        #expect(winners.count == 1)
        let winner = winners.first ?? 0
        let loser = (winner + 1) % 10
        #expect(try await lease(winner, at: Sample.now + 20))
        #expect(try await lease(loser, at: Sample.now + 49) == false)
        #expect(try await lease(loser, at: Sample.now + 50))
        #expect(try await lease(winner, at: Sample.now + 51) == false)
        try await stores[0].releaseDeliveries(nodeID: "n\(winner)")
        #expect(try await lease(winner, at: Sample.now + 51) == false)
        try await stores[0].releaseDeliveries(nodeID: "n\(loser)")
        #expect(try await lease(winner, at: Sample.now + 51))
    }
}
