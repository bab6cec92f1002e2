import Testing

@testable import StateSurface

@Suite("Sessions, on both databases")
struct SessionConformanceTests {
    @Test("What was inserted is read back, byte for byte", arguments: Backend.available)
    func roundTrip(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("A session is found by its current and its previous secret, not by another", arguments: Backend.available)
    func secrets(_ backend: Backend) async throws {
        try await backend.withStore { store in
            var session = Sample.session()
            session.previousSecretHash = Sample.hash(2)
            try await store.insert(session: session)
            #expect(try await store.session(secretHash: Sample.hash(1))?.id == "ses_a")
            #expect(try await store.session(secretHash: Sample.hash(2))?.id == "ses_a")
            #expect(try await store.session(secretHash: Sample.hash(3)) == nil)
            #expect(try await store.session(secretHash: []) == nil)
        }
    }

    @Test("An id is taken once", arguments: Backend.available)
    func duplicateID(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(session: Sample.session())
            await #expect(throws: StateSurfaceError(.duplicate, "")) {
                try await store.insert(session: Sample.session(secret: 2))
            }
            #expect(try await store.session(id: "ses_a")?.secretHash == Sample.hash(1))
        }
    }

    @Test("Of a hundred upgrades of one session exactly one wins", arguments: Backend.available)
    func upgradeRace(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("The lifecycle never goes backwards and an owner stays, whatever a caller asks", arguments: Backend.available)
    func neverBackwards(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("Live sessions of an owner come newest first, without dead and foreign ones", arguments: Backend.available)
    func liveSessions(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
            #expect(try await store.sessions(limit: 100).count == 6)
            #expect(try await store.sessions(limit: 0).isEmpty)
        }
    }

    @Test("Use moves last_seen_at forward only, and the expiry with it", arguments: Backend.available)
    func touch(_ backend: Backend) async throws {
        try await backend.withStore { store in
            for index in 0..<150 {
                try await store.insert(session: Sample.session("ses_\(index)", secret: index))
            }
            try await store.touch(sessions: (0..<150).map { ("ses_\($0)", Sample.now + 50_000) } + [("ses_x", 1)])
            try await store.touch(sessions: [("ses_7", Sample.now + 10)])
            let touched = try #require(try await store.session(id: "ses_7"))
            #expect(touched.lastSeenAt == Sample.now + 50_000)
            #expect(touched.version == 0)
            #expect(try await store.expireSessions(now: Sample.now + 109_999, limit: 500).isEmpty)
            #expect(try await store.expireSessions(now: Sample.now + 110_000, limit: 500).count == 150)
            // Not even a late use revives them.
            try await store.touch(sessions: [("ses_7", Sample.now + 115_000)])
            #expect(try await store.session(id: "ses_7")?.lastSeenAt == Sample.now + 50_000)
        }
    }

    @Test("A replacement from an older reading does not take use back", arguments: Backend.available)
    func replaceKeepsUse(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let session = Sample.session()
            try await store.insert(session: session)
            try await store.touch(sessions: [(session.id, Sample.now + 30_000)])
            #expect(try await store.replace(session: session))
            #expect(try await store.session(id: session.id)?.lastSeenAt == Sample.now + 30_000)
            #expect(try await store.expireSessions(now: Sample.now + 60_000, limit: 10).isEmpty)
            #expect(try await store.expireSessions(now: Sample.now + 90_000, limit: 10) == [session.id])
        }
    }

    @Test("Expiry is bounded, durable, and does not come back when the clock does", arguments: Backend.available)
    func expiry(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let store = try await place.open()
            for index in 0..<5 { try await store.insert(session: Sample.session("ses_\(index)", secret: index)) }
            #expect(try await store.expireSessions(now: Sample.now + 60_000, limit: 3).count == 3)
            #expect(try await store.expireSessions(now: Sample.now + 60_000, limit: 3).count == 2)
            #expect(try await store.expireSessions(now: Sample.now, limit: 3).isEmpty)
            let again = try await place.open()
            let session = try #require(try await again.session(id: "ses_0"))
            #expect(session.state == .expired)
            #expect(session.endedAt == Sample.now + 60_000)
            var revived = session
            revived.state = .anonymous
            #expect(try await again.replace(session: revived) == false)
        }
    }

    @Test("Tombstones stay until their absolute end, then everything of theirs goes", arguments: Backend.available)
    func tombstones(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(session: Sample.session())
            _ = try await store.begin(execution: Sample.execution())
            _ = try await store.finish(sessionID: "ses_a", intentID: "c1", at: Sample.now) { "{\"seq\":\($0)}" }
            _ = try await store.expireSessions(now: Sample.now + 599_999, limit: 10)
            #expect(try await store.session(id: "ses_a")?.state == .expired)
            _ = try await store.expireSessions(now: Sample.now + 600_000, limit: 10)
            #expect(try await store.session(id: "ses_a") == nil)
            #expect(try await store.events(sessionID: "ses_a", after: 0, limit: 10).isEmpty)
            #expect(try await store.execution(sessionID: "ses_a", intentID: "c1") == nil)
        }
    }

    @Test("A text with a NUL is refused when written and unknown when asked for", arguments: Backend.available)
    func nul(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(session: Sample.session("ses_a"))
            #expect(try await store.session(id: "ses_a\0x") == nil)
            await #expect(throws: StateSurfaceError(.failed, "")) {
                try await store.insert(session: Sample.session("ses_b\0", secret: 2))
            }
        }
    }
}
