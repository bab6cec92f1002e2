import Testing

@testable import StateSurface

@Suite("What nodes share: keys and tickets, on both databases")
struct SharedConformanceTests {
    private func ticket(
        _ seed: Int, session: String = "ses_a", expiresAt: Milliseconds = Sample.now + 30_000
    )
        -> TicketRecord
    {
        TicketRecord(
            hash: Sample.hash(seed), sessionID: session, epoch: 3, facts: Array("{\"sub\":\"usr_a\"}".utf8),
            origin: seed.isMultiple(of: 2) ? "https://app.example" : nil, expiresAt: expiresAt)
    }

    @Test(
        "The first node's key counts; a rotation moves on from it; a stranger is refused", arguments: Backend.available)
    func keys(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let store = try await place.open()
            #expect(try await store.registeredKeys().isEmpty)
            #expect(try await store.register(signingKey: "k1", held: ["k1"], superseded: []))
            #expect(try await store.register(signingKey: "k1", held: ["k1", "k2"], superseded: []))
            #expect(try await store.register(signingKey: "x", held: ["x"], superseded: ["k1"]) == false)
            #expect(try await store.register(signingKey: "k2", held: ["k1", "k2"], superseded: ["k1"]))
            #expect(try await place.open().registeredKeys() == ["k2"])
            // Whoever knows only the key before it is no longer one of them.
            #expect(try await store.register(signingKey: "k1", held: ["k1"], superseded: []) == false)
        }
    }

    @Test("Of many nodes that bring keys of their own at once, one is accepted", arguments: Backend.available)
    func keyRace(_ backend: Backend) async throws {
        try await backend.withPlace { place in
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

    @Test("A ticket put by one node is taken at another, once", arguments: Backend.available)
    func tickets(_ backend: Backend) async throws {
        try await backend.withPlace { place in
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
    }

    @Test("A session has only so many unused tickets, and expired ones are swept away", arguments: Backend.available)
    func ticketLimit(_ backend: Backend) async throws {
        try await backend.withStore { store in
            #expect(try await store.put(ticket: self.ticket(1), limit: 2, now: Sample.now))
            #expect(try await store.put(ticket: self.ticket(2), limit: 2, now: Sample.now))
            #expect(try await store.put(ticket: self.ticket(3), limit: 2, now: Sample.now) == false)
            #expect(try await store.put(ticket: self.ticket(4, session: "ses_b"), limit: 2, now: Sample.now))
            #expect(
                try await store.put(
                    ticket: self.ticket(5, expiresAt: Sample.now + 60_000), limit: 2, now: Sample.now + 30_000))
            // Another node's clock may be a minute behind.
            _ = try await store.expireSessions(now: Sample.now + 89_999, limit: 10)
            #expect(try await store.ticket(hash: Sample.hash(1)) == self.ticket(1))
            _ = try await store.expireSessions(now: Sample.now + 90_000, limit: 10)
            #expect(try await store.take(ticketHash: Sample.hash(1)) == nil)
            #expect(try await store.take(ticketHash: Sample.hash(5)) != nil)
        }
    }
}
