import StateSurface
import Testing

/// What every store promises of the events of its transactions.
package enum EventConformance {
    package typealias Store = any StateSurface

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A session that gets an owner is told once, however often it changes after that", upgraded),
        StoreRule("The end of a session is told once, with the reason that was given", ended),
        StoreRule("The end of a family is told of its home and guests, and a reuse besides", families),
        StoreRule("Disabling an account or a client and changing a password tell of the sessions they end", operators),
        StoreRule("Expiry is told once, also of sessions without an owner", expired),
        StoreRule("What is rolled back is not told", rolledBack),
        StoreRule("A receiver without room is told nothing more, and others are", room),
        StoreRule("What the delivering node says of rooms counts, until it is over or the node lets go", rooms),
        StoreRule("What the task of the caller knows is told", context),
    ]

    @TaskLocal private static var request: String?

    private static func writer(to receivers: [String] = ["r1"], limit: Int = 100) -> EventWriter {
        EventWriter(limit: limit) {
            let request = Self.request
            return { event in
                receivers.map { receiver in
                    let words = [
                        "\(event.kind)", event.sessionID, event.tenantID, event.userID, event.reason, request,
                    ].compactMap(\.self)
                    let id = "\(receiver) \(Int64.random(in: 0 ... .max))"
                    return DeliveryRecord(
                        id: id, receiver: receiver, lane: event.sessionID ?? id, eventID: id,
                        payload: words.joined(separator: " "), createdAt: Sample.now, dueAt: Sample.now)
                }
            }
        }
    }

    /// What a receiver was told, in order.
    private static func told(_ store: Store, _ receiver: String = "r1") async throws -> [String] {
        try await store.deliveries(receiver: receiver, limit: 100).map(\.payload)
    }

    @Sendable private static func upgraded(_ store: Store) async throws {
        try await store.insert(session: Sample.session("ses_1", secret: 1))
        store.setEventWriter(writer())
        try await store.insert(session: Sample.session("ses_2", secret: 2))
        try await store.insert(session: Sample.session("ses_3", owner: "usr_a", secret: 3))
        for epoch in 1...2 {
            _ = try await store.change(sessionID: "ses_1") { stored in
                var next = stored
                next?.state = .authenticated
                next?.tenantID = "acme"
                next?.userID = "usr_a"
                next?.epoch = Int64(epoch)
                return (next, true)
            }
        }
        #expect(
            try await told(store) == ["sessionUpgraded ses_3 acme usr_a", "sessionUpgraded ses_1 acme usr_a"])
        store.setEventWriter(nil)
        try await store.insert(session: Sample.session("ses_4", owner: "usr_a", secret: 4))
        #expect(try await told(store).count == 2)
    }

    private static func end(_ id: String, in transaction: any StoreTransaction) throws {
        guard var session = try transaction.session(id: id) else { return }
        session.state = .ended
        session.endedAt = Sample.now
        _ = try transaction.replace(session: session)
    }

    @Sendable private static func ended(_ store: Store) async throws {
        store.setEventWriter(writer())
        for seed in 1...3 { try await store.insert(session: Sample.session("ses_\(seed)", secret: seed)) }
        for _ in 1...2 {
            try await store.transaction { transaction in
                try end("ses_1", in: transaction)
                transaction.setEndReason("too_many_sessions")
                try end("ses_2", in: transaction)
                transaction.setEndReason(nil)
                try end("ses_3", in: transaction)
            }
        }
        #expect(
            try await told(store)
                == ["sessionEnded ses_1", "sessionEnded ses_2 too_many_sessions", "sessionEnded ses_3"])
    }

    @Sendable private static func families(_ store: Store) async throws {
        try await store.insert(family: Sample.family("fam", token: 1))
        try await store.insert(family: Sample.family("other", token: 2))
        for seed in 1...2 {
            try await store.insert(
                session: Sample.session("ses_\(seed)", owner: "usr_a", family: "fam", secret: seed))
        }
        try await store.insert(session: Sample.session("ses_3", owner: "usr_a", family: "other", secret: 3))
        store.setEventWriter(writer())
        for _ in 1...2 { _ = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 1) }
        #expect(
            Set(try await told(store)) == [
                "sessionEnded ses_1 acme usr_a family_ended", "sessionEnded ses_2 acme usr_a family_ended",
            ])
        for _ in 1...2 {
            _ = try await store.endReusedFamily(id: "other", at: Sample.now, revokedUntil: Sample.now + 1)
        }
        #expect(
            try await told(store).dropFirst(2) == [
                "tokenReused acme usr_a refresh_reused", "sessionEnded ses_3 acme usr_a refresh_reused",
            ])
    }

    @Sendable private static func operators(_ store: Store) async throws {
        let client = ClientRecord(
            clientID: "cli_a", tenantID: "acme", name: "ci", secretHash: [], scope: [], createdAt: Sample.now)
        try await store.insert(client: client)
        try await store.insert(account: Sample.account())
        try await store.insert(account: Sample.account("usr_b", email: "bob@example.com"))
        var family = Sample.family("fam", token: 1)
        family.clientID = "cli_a"
        try await store.insert(family: family)
        try await store.insert(session: Sample.session("ses_1", owner: "usr_a", family: "fam", secret: 1))
        try await store.insert(session: Sample.session("ses_2", owner: "cli_a", secret: 2))
        try await store.insert(session: Sample.session("ses_3", owner: "usr_a", secret: 3))
        try await store.insert(session: Sample.session("ses_4", owner: "usr_b", secret: 4))
        store.setEventWriter(writer())
        #expect(try await store.disable(clientID: "cli_a", at: Sample.now, revokedUntil: Sample.now + 1))
        _ = try await store.changePassword(
            PasswordChange(
                userID: "usr_b", passwordHash: "$scrypt$…", judgedEpoch: nil, keptFamilyID: nil, keptSessionID: nil,
                at: Sample.now, revokedUntil: Sample.now + 1))
        #expect(try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now + 1))
        #expect(
            try await told(store) == [
                "sessionEnded ses_1 acme usr_a client_disabled", "sessionEnded ses_2 acme cli_a client_disabled",
                "sessionEnded ses_4 acme usr_b password_changed", "accountDisabled acme usr_a",
                "sessionEnded ses_3 acme usr_a account_disabled",
            ])
    }

    @Sendable private static func expired(_ store: Store) async throws {
        store.setEventWriter(writer())
        try await store.insert(session: Sample.session("ses_1", secret: 1))
        for _ in 1...2 { _ = try await store.expireSessions(now: Sample.now + 60_000, limit: 10) }
        #expect(try await told(store) == ["sessionEnded ses_1 expired"])
    }

    private struct Abort: TransactionAbort {}

    @Sendable private static func rolledBack(_ store: Store) async throws {
        try await store.insert(session: Sample.session("ses_1", secret: 1))
        store.setEventWriter(writer())
        await #expect(throws: Abort.self) {
            try await store.transaction { transaction in
                try end("ses_1", in: transaction)
                throw Abort()
            }
        }
        #expect(try await told(store).isEmpty)
        #expect(try await store.session(id: "ses_1")?.state == .anonymous)
    }

    @Sendable private static func room(_ store: Store) async throws {
        for seed in 1...3 { try await store.insert(session: Sample.session("ses_\(seed)", secret: seed)) }
        let full = DeliveryRecord(
            id: "x", receiver: "r2", lane: "x", eventID: "x", payload: "before", createdAt: Sample.now,
            dueAt: Sample.now)
        #expect(try await store.enqueue(deliveries: [full], limit: 10) == 0)
        store.setEventWriter(writer(to: ["r1", "r2"], limit: 2))
        for seed in 1...3 { try await store.transaction { try end("ses_\(seed)", in: $0) } }
        #expect(try await told(store) == ["sessionEnded ses_1", "sessionEnded ses_2"])
        #expect(try await told(store, "r2") == ["before", "sessionEnded ses_1"])
        #expect(try await store.waitingDeliveries(receiver: "r1", limit: 10) == 2)
        #expect(try await store.waitingDeliveries(receiver: "r1", limit: 1) == 1)
        #expect(try await store.session(id: "ses_3")?.state == .ended)
    }

    @Sendable private static func rooms(_ store: Store) async throws {
        for seed in 1...8 { try await store.insert(session: Sample.session("ses_\(seed)", secret: seed)) }
        store.setEventWriter(writer(limit: 1))
        func ends(_ seed: Int) async throws -> Int {
            try await store.transaction { try end("ses_\(seed)", in: $0) }
            return try await told(store).count
        }
        func say(_ openUntil: Int64, isFull: Bool = false, by node: String = "n1") async throws {
            let room = DeliveryRoom(receiver: "r1", openUntil: openUntil, isFull: isFull)
            try await store.set(deliveryRooms: [room], by: node)
        }
        #expect(try await store.leaseDeliveries(nodeID: "n1", now: Sample.now, until: Sample.now + 30))
        try await say(.max, isFull: true)
        #expect(try await ends(1) == 0)
        // Before the place nothing is counted, and once it is reached, everything is.
        try await say(try await store.newestDelivery() + 3)
        #expect(try await ends(2) == 1)
        #expect(try await ends(3) == 2)
        let newest = try await store.newestDelivery()
        try await say(newest + 1)
        #expect(try await ends(4) == 3)
        #expect(try await ends(5) == 3)
        // A node that does not deliver has no say.
        try await say(.max, by: "n2")
        #expect(try await ends(6) == 3)
        try await say(.max)
        #expect(try await ends(7) == 4)
        try await store.releaseDeliveries(nodeID: "n1")
        #expect(try await ends(8) == 4)
    }

    @Sendable private static func context(_ store: Store) async throws {
        store.setEventWriter(writer())
        for seed in 1...2 {
            try await Self.$request.withValue("req_\(seed)") {
                try await store.insert(session: Sample.session("ses_\(seed)", owner: "usr_a", secret: seed))
            }
        }
        #expect(
            try await told(store) == [
                "sessionUpgraded ses_1 acme usr_a req_1", "sessionUpgraded ses_2 acme usr_a req_2",
            ])
    }
}
