import StateSurface
import Testing

/// What every ``TicketStore`` promises.
package enum TicketStoreConformance {
    package typealias Store = any TicketStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A ticket put by one node is taken at another, once", tickets),
        StoreRule("A session has only so many unused tickets, and those past their end do not count", ticketLimit),
        StoreRule("So many unused tickets are the most, however many are asked for at once", concurrentLimit),
    ]

    private static func ticket(
        _ seed: Int, session: String = "ses_a", expiresAt: Milliseconds = Sample.now + 30_000
    ) -> TicketRecord {
        TicketRecord(
            hash: Sample.hash(seed), sessionID: session, epoch: 3, facts: Array("{\"sub\":\"usr_a\"}".utf8),
            origin: seed.isMultiple(of: 2) ? "https://app.example" : nil, expiresAt: expiresAt)
    }

    @Sendable private static func tickets(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        for seed in 1...2 {
            #expect(try await stores[0].put(ticket: self.ticket(seed), limit: 9, now: Sample.now))
            let taken = try await withThrowingTaskGroup(of: TicketRecord?.self) { group in
                for index in 0..<20 {
                    group.addTask { try await stores[index % 2].take(ticketHash: Sample.hash(seed)) }
                }
                return try await group.reduce(into: [TicketRecord]()) { if let one = $1 { $0.append(one) } }
            }
            #expect(taken == [self.ticket(seed)])
        }
        #expect(try await stores[1].take(ticketHash: Sample.hash(99)) == nil)
    }

    @Sendable private static func concurrentLimit(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
            for seed in 1...60 {
                group.addTask { try await stores[seed % 2].put(ticket: self.ticket(seed), limit: 5, now: Sample.now) }
            }
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(stored == 5)
    }

    @Sendable private static func ticketLimit(_ store: Store) async throws {
        #expect(try await store.put(ticket: self.ticket(1), limit: 2, now: Sample.now))
        #expect(try await store.put(ticket: self.ticket(2), limit: 2, now: Sample.now))
        #expect(try await store.put(ticket: self.ticket(3), limit: 2, now: Sample.now) == false)
        #expect(try await store.put(ticket: self.ticket(4, session: "ses_b"), limit: 2, now: Sample.now))
        #expect(
            try await store.put(
                ticket: self.ticket(5, expiresAt: Sample.now + 60_000), limit: 2, now: Sample.now + 30_000))
        #expect(try await store.ticket(hash: Sample.hash(1)) == ticket(1))
        #expect(try await store.take(ticketHash: Sample.hash(5)) != nil)
    }
}
