import StateSurface
import Testing

/// What every store does with a family whose home expires.
package enum HomeExpiryConformance {
    package typealias Store = any SessionStore & FamilyStore & RevocationStore & ChangeFeed

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A home that expires takes its family, its tokens and its guests along", swept),
        StoreRule("One that is found to have expired does the same, unless another was faster", found),
        StoreRule("A guest expires alone, and so does a session that is no longer the home of a live family", alone),
        StoreRule("Homes and others expire together, never more than asked for", bounded),
    ]

    private static let due = Sample.now + 60_000

    /// A family that is at home in `ses_<name>`, and has a guest that is not due with it.
    private static func prepare(
        _ store: Store, _ name: String, seed: Int, at created: Milliseconds = Sample.now
    ) async throws {
        let (family, home) = ("fam_" + name, "ses_" + name)
        try await store.insert(family: Sample.family(family, home: home, token: 100 + seed))
        try await store.insert(
            session: Sample.session(home, owner: "usr_a", family: family, createdAt: created, secret: seed))
        try await store.insert(
            session: Sample.session(
                "guest_" + name, owner: "usr_a", family: family, createdAt: created + 30_000, secret: 50 + seed))
    }

    private static func expectEnded(_ store: Store, _ name: String, _ changes: [Change]) async throws {
        #expect(try await store.session(id: "ses_" + name)?.state == .expired)
        #expect(try await store.session(id: "guest_" + name)?.state == .ended)
        #expect(try await store.family(id: "fam_" + name)?.isLive == false)
        let revoked = try await store.revocations(now: due + 3_000_000).filter { $0.kind == .family }
        #expect(revoked.map(\.id) == ["fam_" + name])
        let home = try #require(changes.firstIndex(of: .session(id: "ses_" + name, state: .expired, epoch: 0)))
        let guest = try #require(changes.firstIndex(of: .session(id: "guest_" + name, state: .ended, epoch: 0)))
        let family = try #require(changes.firstIndex(of: .familyEnded(id: "fam_" + name)))
        // Sessions first, so that a socket closes because its session ended.
        #expect(home < family && guest < family)
    }

    @Sendable private static func swept(_ store: Store) async throws {
        try await prepare(store, "a", seed: 1)
        try await prepare(store, "b", seed: 2, at: Sample.now + 1_000)
        let feed = ChangeRecorder(store)
        let family = ExpiredSessions.Family(id: "fam_a", sessionIDs: ["guest_a"])
        #expect(
            try await store.expireSessions(now: due, limit: 10) == ExpiredSessions(ids: ["ses_a"], families: [family]))
        try await expectEnded(store, "a", feed.changes)
        #expect(try await store.family(id: "fam_b")?.isLive == true)
        #expect(try await store.session(id: "guest_b")?.state == .authenticated)
        #expect(try await store.expireSessions(now: due, limit: 10) == ExpiredSessions(ids: []))
    }

    @Sendable private static func found(_ store: Store) async throws {
        try await prepare(store, "a", seed: 1)
        try await prepare(store, "used", seed: 2)
        var session = try #require(try await store.session(id: "ses_a"))
        session.state = .expired
        session.endedAt = session.expiresAt
        var outdated = session
        outdated.version -= 1
        let feed = ChangeRecorder(store)
        #expect(try await store.expire(session: outdated) == nil)
        // One that is used after it was found is not due any more. A use leaves the version as it is.
        var used = try #require(try await store.session(id: "ses_used"))
        used.state = .expired
        used.endedAt = used.expiresAt
        try await store.touch(sessions: [("ses_used", Sample.now + 59_000)])
        #expect(try await store.expire(session: used) == nil)
        #expect(try await store.family(id: "fam_used")?.isLive == true)
        #expect(try await store.session(id: "ses_used")?.state == .authenticated)
        #expect(try await store.family(id: "fam_a")?.isLive == true)
        #expect(feed.changes.isEmpty)
        let family = ExpiredSessions.Family(id: "fam_a", sessionIDs: ["guest_a"])
        #expect(try await store.expire(session: session) == ExpiredSessions(ids: ["ses_a"], families: [family]))
        try await expectEnded(store, "a", feed.changes)
        #expect(try await store.expire(session: session) == nil)
    }

    @Sendable private static func alone(_ store: Store) async throws {
        try await prepare(store, "a", seed: 1)
        // In use, unlike its guest.
        try await store.touch(sessions: [("ses_a", Sample.now + 59_000)])
        let guest = try await store.expireSessions(now: Sample.now + 90_000, limit: 10)
        #expect(guest == ExpiredSessions(ids: ["guest_a"]))
        #expect(try await store.family(id: "fam_a")?.isLive == true)
        // A session that a later sign-in has resumed belongs to that family.
        try await store.insert(family: Sample.family("fam_later", home: "ses_a", token: 200))
        var resumed = try #require(try await store.session(id: "ses_a"))
        resumed.familyID = "fam_later"
        #expect(try await store.replace(session: resumed))
        let family = ExpiredSessions.Family(id: "fam_later", sessionIDs: [])
        #expect(
            try await store.expireSessions(now: Sample.now + 119_000, limit: 10)
                == ExpiredSessions(ids: ["ses_a"], families: [family]))
    }

    @Sendable private static func bounded(_ store: Store) async throws {
        for seed in 1...3 { try await prepare(store, "\(seed)", seed: seed) }
        for seed in 4...6 { try await store.insert(session: Sample.session("ses_\(seed)", secret: seed)) }
        var ids: Set<String> = []
        var families: Set<String> = []
        for _ in 0..<3 {
            let expired = try await store.expireSessions(now: due, limit: 2)
            #expect(expired.ids.count == 2)
            ids.formUnion(expired.ids)
            families.formUnion(expired.families.map(\.id))
        }
        #expect(ids == Set((1...6).map { "ses_\($0)" }))
        #expect(families == ["fam_1", "fam_2", "fam_3"])
        for seed in 1...3 { #expect(try await store.session(id: "guest_\(seed)")?.state == .ended) }
    }
}
