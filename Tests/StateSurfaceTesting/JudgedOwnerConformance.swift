import StateSurface
import Testing

/// What is made of a judgement holds only while the judgement does.
package enum JudgedOwnerConformance {
    package typealias Store = any AccountStore & ClientStore & FamilyStore & SessionStore & RevocationStore & ChangeFeed

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A family is opened for the account that was judged, and for no later one", epoch),
        StoreRule("No login that was judged before outlives a password change that it races", race),
        StoreRule("A password change keeps the caller's family, its home and the session that asked", keeps),
        StoreRule(
            "A password change that was judged of an older account, or by a caller logged out, changes nothing",
            refusedChange),
        StoreRule("However many sessions a user has, all of them end with the password", thousands),
        StoreRule("Disabling a user leaves a revocation of each family behind", disabledUser),
        StoreRule("A disabled client's families and sessions end, and it gets no more of them", disabledClient),
    ]

    private static func change(
        epoch: Int64? = nil, family: String? = nil, session: String? = nil, hash: String = "new"
    ) -> PasswordChange {
        PasswordChange(
            userID: "usr_a", passwordHash: hash, judgedEpoch: epoch, keptFamilyID: family, keptSessionID: session,
            at: Sample.now, revokedUntil: Sample.now + 900)
    }

    private static let asJudged = JudgedOwner(credentialEpoch: 0)

    private static func family(_ id: String, user: String = "usr_a", client: String, token: Int) -> FamilyRecord {
        var family = Sample.family(id, user: user, token: token)
        family.clientID = client
        return family
    }

    private static func client(_ id: String) -> ClientRecord {
        ClientRecord(
            clientID: id, tenantID: "acme", name: "ci", secretHash: Sample.hash(1), scope: [], createdAt: Sample.now)
    }

    @Sendable private static func epoch(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(family: Sample.family("early"), judged: Self.asJudged)
        // A new hash of the same password is no new password.
        var strengthened = Sample.account()
        strengthened.passwordHash = "stronger"
        #expect(try await store.replace(account: strengthened))
        try await store.insert(family: Sample.family("same", token: 200), judged: Self.asJudged)
        _ = try await store.changePassword(Self.change(epoch: 0))
        await #expect(throws: StateSurfaceError.ownerGone) {
            try await store.insert(family: Sample.family("late", token: 300), judged: Self.asJudged)
        }
        await #expect(throws: StateSurfaceError.ownerGone) {
            try await store.insert(
                family: Sample.family("nobody", user: "usr_x", token: 400), judged: Self.asJudged)
        }
        #expect(try await store.liveFamilies(userID: "usr_a").isEmpty)
        try await store.insert(family: Sample.family("new", token: 500), judged: JudgedOwner(credentialEpoch: 1))
        #expect(try await store.liveFamilies(userID: "usr_a").map(\.id) == ["new"])
    }

    @Sendable private static func race(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await stores[0].insert(account: Sample.account())
        let opened = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let family = Sample.family("fam_\(index)", token: 1 + index)
                    do {
                        try await stores[index % 2].insert(family: family, judged: Self.asJudged)
                        return 1
                    } catch let error as StateSurfaceError where error.code == .ownerGone {
                        return 0
                    }
                }
                if index == 10 {
                    group.addTask {
                        _ = try await stores[1].changePassword(Self.change(epoch: 0))
                        return 0
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(try await stores[0].liveFamilies(userID: "usr_a").isEmpty)
        // Each that was opened was found and ended.
        let ended = try await stores[0].revocations(now: Sample.now).filter { $0.kind == .family }
        #expect(ended.count == opened)
    }

    @Sendable private static func keeps(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(family: Sample.family("mine", home: "ses_home", token: 100))
        try await store.insert(family: Sample.family("other", token: 101))
        let sessions: [(String, String?)] = [
            ("ses_home", "mine"), ("ses_asking", "mine"), ("ses_guest", "mine"), ("ses_other", "other"),
            ("ses_loose", nil),
        ]
        for (index, session) in sessions.enumerated() {
            try await store.insert(
                session: Sample.session(session.0, owner: "usr_a", family: session.1, secret: index + 1))
        }
        try await store.insert(session: Sample.session("ses_bob", owner: "usr_b", secret: 20))
        let feed = ChangeRecorder(store)
        let ended = try await store.changePassword(Self.change(epoch: 0, family: "mine", session: "ses_asking"))
        #expect(ended.sorted() == ["ses_guest", "ses_loose", "ses_other"])
        for id in ["ses_home", "ses_asking", "ses_bob"] {
            #expect(try await store.session(id: id)?.state == .authenticated, "\(id)")
        }
        #expect(try await store.liveFamilies(userID: "usr_a").map(\.id) == ["mine"])
        let revocation = Revocation(kind: .family, id: "other", expiresAt: Sample.now + 900)
        #expect(try await store.revocations(now: Sample.now) == [revocation])
        #expect(feed.changes.contains(.familyEnded(id: "other")) && feed.changes.contains(.account(userID: "usr_a")))
        let account = try #require(try await store.account(userID: "usr_a"))
        #expect(account.passwordHash == "new" && account.credentialEpoch == 1)
    }

    @Sendable private static func refusedChange(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(family: Sample.family("mine"))
        try await store.insert(family: Sample.family("dead", token: 200))
        try await store.insert(family: Sample.family("foreign", user: "usr_b", token: 300))
        _ = try await store.endFamily(id: "dead", at: Sample.now, revokedUntil: Sample.now + 1)
        try await store.insert(session: Sample.session("ses_1", owner: "usr_a", secret: 1))
        let before = try await store.account(userID: "usr_a")
        let refused = [
            Self.change(epoch: 7), Self.change(epoch: 0, family: "dead"), Self.change(epoch: 0, family: "foreign"),
            Self.change(epoch: 0, family: "none"),
        ]
        for change in refused {
            await #expect(throws: StateSurfaceError.ownerGone) { try await store.changePassword(change) }
        }
        #expect(try await store.account(userID: "usr_a") == before)
        #expect(try await store.session(id: "ses_1")?.state == .authenticated)
        #expect(try await store.changePassword(Self.change(epoch: 0, family: "mine")) == ["ses_1"])
    }

    @Sendable private static func thousands(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<1_205 {
                group.addTask {
                    try await store.insert(
                        session: Sample.session("ses_\(index)", owner: "usr_a", secret: index + 1))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.changePassword(Self.change()).count == 1_205)
        let live = try await store.liveSessions(tenantID: "acme", userID: "usr_a", now: Sample.now, limit: 9)
        #expect(live.isEmpty)
    }

    @Sendable private static func disabledUser(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(family: Sample.family("fam"))
        try await store.insert(session: Sample.session("ses_1", owner: "usr_a", family: "fam"))
        let feed = ChangeRecorder(store)
        _ = try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now + 900)
        let revocation = Revocation(kind: .family, id: "fam", expiresAt: Sample.now + 900)
        #expect(try await store.revocations(now: Sample.now).contains(revocation))
        // A socket is told that its session has ended, not that its token was revoked.
        let told = feed.changes
        let session = try #require(told.firstIndex(of: .session(id: "ses_1", state: .ended, epoch: 0)))
        #expect(try session < #require(told.firstIndex(of: .revoked(revocation))))
        #expect(try session < #require(told.firstIndex(of: .familyEnded(id: "fam"))))
        #expect(try await store.account(userID: "usr_a")?.credentialEpoch == 1)
    }

    @Sendable private static func disabledClient(_ store: Store) async throws {
        for id in ["cli_a", "cli_b"] { try await store.insert(client: Self.client(id)) }
        let judged = JudgedOwner(clientID: "cli_a")
        try await store.insert(family: Self.family("own", user: "cli_a", client: "cli_a", token: 1), judged: judged)
        try await store.insert(family: Self.family("users", client: "cli_a", token: 2), judged: judged)
        try await store.insert(family: Self.family("others", client: "cli_b", token: 3))
        let sessions = [
            ("ses_own", "cli_a", "own"), ("ses_legacy", "cli_a", nil), ("ses_user", "usr_a", "users"),
            ("ses_b", "usr_a", "others"),
        ]
        for (index, session) in sessions.enumerated() {
            try await store.insert(
                session: Sample.session(session.0, owner: session.1, family: session.2, secret: index + 1))
        }
        #expect(try await store.disable(clientID: "cli_a", at: Sample.now, revokedUntil: Sample.now + 900))
        for id in ["ses_own", "ses_legacy", "ses_user"] {
            #expect(try await store.session(id: id)?.state == .ended, "\(id)")
        }
        #expect(try await store.session(id: "ses_b")?.state == .authenticated)
        #expect(try await store.family(id: "others")?.isLive == true)
        for unusable in ["cli_a", "cli_none"] {
            await #expect(throws: StateSurfaceError.ownerGone) {
                try await store.insert(
                    family: Self.family("late", user: unusable, client: unusable, token: 4),
                    judged: JudgedOwner(clientID: unusable))
            }
        }
        await #expect(throws: StateSurfaceError.ownerGone) {
            try await store.insert(session: Sample.session("ses_late", owner: "cli_a", family: "own", secret: 9))
        }
    }
}
