import StateSurface
import Testing

/// What every ``SessionStore`` promises.
package enum SessionStoreConformance {
    package typealias Store = any SessionStore & ChangeFeed

    package static let rules: [StoreRule<Store>] = [
        StoreRule("What was inserted is read back, byte for byte", roundTrip),
        StoreRule("A session is found by its current and its previous secret, not by another", secrets),
        StoreRule("An id is taken once", duplicateID),
        StoreRule("Of a hundred upgrades of one session exactly one wins", upgradeRace),
        StoreRule("The lifecycle never goes backwards and an owner stays, whatever a caller asks", neverBackwards),
        StoreRule("Live sessions of an owner come newest first, without dead and foreign ones", liveSessions),
        StoreRule("Use moves last_seen_at forward only, and the expiry with it", touch),
        StoreRule("A replacement from an older reading does not take use back", replaceKeepsUse),
        StoreRule("Expiry is bounded, durable, and does not come back when the clock does", expiry),
        StoreRule("The decision sees what is stored, and what it wants is written", decides),
        StoreRule("Nothing is written or told where the decision wants nothing", leaves),
        StoreRule("Of many at once none overwrites what another wrote", linear),
        StoreRule("Nor of many sessions, with and without owners, which others end meanwhile", linearOfMany),
    ]

    /// What the rules about ``SessionStore/change(sessionID:_:)`` decide: one more epoch, if the session is there and live.
    @Sendable private static func raise(_ stored: SessionRecord?) -> (next: SessionRecord?, outcome: Int64?) {
        guard var next = stored, next.state.isLive else { return (nil, stored?.epoch) }
        next.epoch += 1
        return (next, next.epoch)
    }

    @Sendable private static func roundTrip(_ store: Store) async throws {
        var session = Sample.session(owner: "usr_ä", family: "fam")
        session.previousSecretHash = Sample.hash(2)
        session.previousSecretUntil = Sample.now + 10_000
        session.metadata = #"{"a":"\u0000 é 🔑"}"#
        session.epoch = .max
        session.version = 3
        try await store.insert(session: session)
        #expect(try await store.session(id: session.id) == session)
        #expect(try await store.session(id: "ses_b") == nil)
    }

    @Sendable private static func secrets(_ store: Store) async throws {
        var session = Sample.session()
        session.previousSecretHash = Sample.hash(2)
        try await store.insert(session: session)
        #expect(try await store.session(secretHash: Sample.hash(1))?.id == "ses_a")
        #expect(try await store.session(secretHash: Sample.hash(2))?.id == "ses_a")
        #expect(try await store.session(secretHash: Sample.hash(3)) == nil)
        #expect(try await store.session(secretHash: []) == nil)
    }

    @Sendable private static func duplicateID(_ store: Store) async throws {
        try await store.insert(session: Sample.session())
        await #expect(throws: StateSurfaceError(.duplicate, "")) {
            try await store.insert(session: Sample.session(secret: 2))
        }
        #expect(try await store.session(id: "ses_a")?.secretHash == Sample.hash(1))
    }

    @Sendable private static func upgradeRace(_ store: Store) async throws {
        let session = Sample.session()
        try await store.insert(session: session)
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<100 {
                group.addTask {
                    var upgraded = session
                    upgraded.state = .authenticated
                    upgraded.tenantID = "acme"
                    upgraded.userID = "usr_\(index)"
                    upgraded.epoch += 1
                    return try await store.replace(session: upgraded)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(winners == 1)
        #expect(try await store.session(id: session.id)?.version == 1)
    }

    @Sendable private static func neverBackwards(_ store: Store) async throws {
        var session = Sample.session(owner: "usr_a")
        try await store.insert(session: session)
        session.state = .anonymous
        #expect(try await store.replace(session: session) == false)
        session.state = .authenticated
        session.userID = "usr_b"
        #expect(try await store.replace(session: session) == false)
        session.userID = "usr_a"
        session.state = .ended
        #expect(try await store.replace(session: session))
        session.version += 1
        session.state = .authenticated
        #expect(try await store.replace(session: session) == false)
        session.state = .expired
        #expect(try await store.replace(session: session) == false)
        #expect(try await store.session(id: session.id)?.state == .ended)
    }

    @Sendable private static func liveSessions(_ store: Store) async throws {
        for index in 0..<4 {
            try await store.insert(
                session: Sample.session(
                    "ses_\(index)", owner: "usr_a", createdAt: Sample.now + Int64(index), secret: index))
        }
        try await store.insert(session: Sample.session("ses_other", owner: "usr_b", secret: 10))
        var foreign = Sample.session("ses_tenant", owner: "usr_a", secret: 11)
        foreign.tenantID = "other"
        try await store.insert(session: foreign)
        var ended = try #require(try await store.session(id: "ses_2"))
        ended.state = .ended
        #expect(try await store.replace(session: ended))

        func live(_ now: Milliseconds, _ limit: Int) async throws -> [String] {
            try await store.liveSessions(tenantID: "acme", userID: "usr_a", now: now, limit: limit).map(\.id)
        }
        #expect(try await live(Sample.now, 10) == ["ses_3", "ses_1", "ses_0"])
        #expect(try await live(Sample.now, 1) == ["ses_3"])
        #expect(try await live(Sample.now + 60_001, 10) == ["ses_3"])
        func listed(_ userID: String?, _ now: Milliseconds?, _ limit: Int) async throws -> [String] {
            try await store.sessions(userID: userID, liveAt: now, limit: limit).map(\.id)
        }
        #expect(try await listed(nil, nil, 100).count == 6)
        #expect(try await listed(nil, nil, 0).isEmpty)
        #expect(try await listed("usr_a", nil, 2) == ["ses_3", "ses_2"])
        #expect(try await listed("usr_a", Sample.now, 2) == ["ses_3", "ses_1"])
        #expect(try await listed("usr_b", Sample.now, 2) == ["ses_other"])
        #expect(try await listed(nil, Sample.now, 2) == ["ses_3", "ses_1"])
        #expect(try await listed(nil, Sample.now + 60_001, 9) == ["ses_3"])
    }

    @Sendable private static func touch(_ store: Store) async throws {
        for index in 0..<150 {
            try await store.insert(session: Sample.session("ses_\(index)", secret: index))
        }
        try await store.touch(sessions: (0..<150).map { ("ses_\($0)", Sample.now + 50_000) } + [("ses_x", 1)])
        try await store.touch(sessions: [("ses_7", Sample.now + 10)])
        let touched = try #require(try await store.session(id: "ses_7"))
        #expect(touched.lastSeenAt == Sample.now + 50_000)
        #expect(touched.version == 0)
        #expect(try await store.expireSessions(now: Sample.now + 109_999, limit: 500).ids.isEmpty)
        #expect(try await store.expireSessions(now: Sample.now + 110_000, limit: 500).ids.count == 150)
        // Not even a late use revives them.
        try await store.touch(sessions: [("ses_7", Sample.now + 115_000)])
        #expect(try await store.session(id: "ses_7")?.lastSeenAt == Sample.now + 50_000)
    }

    @Sendable private static func replaceKeepsUse(_ store: Store) async throws {
        let session = Sample.session()
        try await store.insert(session: session)
        try await store.touch(sessions: [(session.id, Sample.now + 30_000)])
        #expect(try await store.replace(session: session))
        #expect(try await store.session(id: session.id)?.lastSeenAt == Sample.now + 30_000)
        #expect(try await store.expireSessions(now: Sample.now + 60_000, limit: 10).ids.isEmpty)
        #expect(try await store.expireSessions(now: Sample.now + 90_000, limit: 10).ids == [session.id])
    }

    @Sendable private static func expiry(_ place: StorePlace<Store>) async throws {
        let store = try await place.open()
        for index in 0..<5 { try await store.insert(session: Sample.session("ses_\(index)", secret: index)) }
        #expect(try await store.expireSessions(now: Sample.now + 60_000, limit: 3).ids.count == 3)
        #expect(try await store.expireSessions(now: Sample.now + 60_000, limit: 3).ids.count == 2)
        #expect(try await store.expireSessions(now: Sample.now, limit: 3).ids.isEmpty)
        let again = try await place.open()
        let session = try #require(try await again.session(id: "ses_0"))
        #expect(session.state == .expired)
        #expect(session.endedAt == Sample.now + 60_000)
        var revived = session
        revived.state = .anonymous
        #expect(try await again.replace(session: revived) == false)
    }

    @Sendable private static func decides(_ store: Store) async throws {
        try await store.insert(session: Sample.session())
        let feed = ChangeRecorder(store)
        let outcome = try await store.change(sessionID: "ses_a") { Self.raise($0) }
        #expect(outcome == .some(1))
        let stored = try #require(try await store.session(id: "ses_a"))
        #expect(stored.epoch == 1 && stored.version == 1)
        #expect(feed.changes == [.session(id: "ses_a", state: .anonymous, epoch: 1)])
    }

    @Sendable private static func leaves(_ store: Store) async throws {
        var session = Sample.session()
        session.state = .ended
        try await store.insert(session: session)
        let feed = ChangeRecorder(store)
        for id in ["ses_a", "ses_unknown", "ses_\0"] {
            let outcome = try await store.change(sessionID: id) { stored in
                let raised = Self.raise(stored)
                return (next: raised.next, outcome: stored?.id)
            }
            #expect(outcome == .some(id == "ses_a" ? "ses_a" : nil))
        }
        #expect(try await store.session(id: "ses_a") == session)
        #expect(feed.changes.isEmpty)
    }

    @Sendable private static func linear(_ store: Store) async throws {
        try await store.insert(session: Sample.session())
        let epochs = try await withThrowingTaskGroup(of: Int64.self) { group -> [Int64] in
            for _ in 0..<24 {
                group.addTask {
                    while true {
                        if let epoch = try await store.change(sessionID: "ses_a", { Self.raise($0) }) {
                            return epoch ?? 0
                        }
                    }
                }
            }
            var epochs: [Int64] = []
            for try await epoch in group { epochs.append(epoch) }
            return epochs
        }
        #expect(epochs.sorted() == Array(1...24))
        #expect(try await store.session(id: "ses_a")?.version == 24)
    }

    /// Ten sessions are raised ten times each; every third is ended in between by one who has read it.
    @Sendable private static func linearOfMany(_ store: Store) async throws {
        for number in 0..<10 {
            let owner = number.isMultiple(of: 2) ? "usr_\(number)" : nil
            try await store.insert(session: Sample.session("ses_\(number)", owner: owner, secret: number))
        }
        let raised = try await withThrowingTaskGroup(of: Int?.self) { group in
            for call in 0..<110 {
                group.addTask {
                    let number = call % 10
                    if call >= 100 {
                        if number.isMultiple(of: 3) { try await Self.end("ses_\(number)", in: store) }
                        return nil
                    }
                    while true {
                        let outcome = try await store.change(sessionID: "ses_\(number)") { stored in
                            let next = Self.raise(stored).next
                            return (next: next, outcome: next != nil)
                        }
                        if let outcome { return outcome ? number : nil }
                    }
                }
            }
            return try await group.reduce(into: [Int: Int64]()) { counts, number in
                if let number { counts[number, default: 0] += 1 }
            }
        }
        for number in 0..<10 {
            let stored = try #require(try await store.session(id: "ses_\(number)"))
            let isEnded = number.isMultiple(of: 3)
            #expect(stored.epoch == raised[number] ?? 0 && stored.state.isLive != isEnded, "\(number)")
            #expect(isEnded || stored.epoch == 10)
            #expect(stored.version == stored.epoch + (isEnded ? 1 : 0))
        }
    }

    @Sendable private static func end(_ id: String, in store: Store) async throws {
        while var session = try await store.session(id: id) {
            session.state = .ended
            session.endedAt = Sample.now
            if try await store.replace(session: session) { return }
        }
    }
}
