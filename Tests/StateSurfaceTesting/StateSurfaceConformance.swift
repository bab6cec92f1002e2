import StateSurface
import Testing

/// What the roles promise of each other: what ends with what, and what can no longer be made.
package enum StateSurfaceConformance {
    package typealias Store = any AccountStore & ClientStore & FamilyStore & SessionStore & RevocationStore
        & ExecutionStore & TicketStore & ChangeFeed

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Disabling ends everything of the user and nothing of others", disable),
        StoreRule("Tombstones stay until their absolute end, then everything of theirs goes", tombstones),
        StoreRule("What is changed to belong to a family that has ended stays as it is", closedFamily),
        StoreRule("The end of a family ends its home and guests and revokes its tokens, once", end),
        StoreRule("No session is written into a family that has ended", lateGuest),
        StoreRule("Guests that arrive while their family ends never outlive it", guestRace),
        StoreRule("Families and revocations past their end are forgotten, tokens included", forgotten),
        StoreRule("However many are past their end, they are forgotten, and no others", forgottenOfMany),
        StoreRule(
            "A revocation of a family or subject lasts as long as any node's tokens, whatever the node that revokes knows",
            revocations),
        StoreRule("Disabling revokes what names an older version of the account, and names each live family", versions),
        StoreRule("What is over is swept away: reaches, tickets", swept),
        StoreRule("A text with a NUL is refused when written and unknown when asked for", nul),
    ]

    private static let long = TokenReach(lifetime: 3_600_000, clockSkew: 0)

    @Sendable private static func disable(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(family: Sample.family("fam"))
        try await store.insert(family: Sample.family("others", user: "usr_b", token: 200))
        try await store.insert(session: Sample.session("ses_1", owner: "usr_a", family: "fam", secret: 1))
        try await store.insert(session: Sample.session("ses_2", owner: "usr_a", secret: 2))
        try await store.insert(session: Sample.session("ses_3", owner: "usr_b", secret: 3))
        let feed = ChangeRecorder(store)
        #expect(try await store.disable(userID: "usr_x", at: Sample.now, revokedUntil: Sample.now + 1) == false)
        #expect(feed.changes.isEmpty)
        #expect(try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now + 900))
        let revocation = Revocation(
            kind: .subject, id: "usr_a", issuedUntil: Sample.now, accountVersion: 1, expiresAt: Sample.now + 900)
        #expect(feed.changes.contains(.revoked(revocation)))
        #expect(feed.changes.contains(.familyEnded(id: "fam")))
        #expect(feed.changes.contains(.account(userID: "usr_a")))
        #expect(feed.changes.contains(.session(id: "ses_2", state: .ended, epoch: 0)))
        #expect(try await store.account(userID: "usr_a")?.disabled == true)
        #expect(try await store.family(id: "fam")?.isLive == false)
        #expect(try await store.family(id: "others")?.isLive == true)
        #expect(try await store.session(id: "ses_1")?.state == .ended)
        #expect(try await store.session(id: "ses_3")?.state == .authenticated)
        // What was under way meanwhile comes too late.
        await #expect(throws: StateSurfaceError.ownerGone) {
            try await store.insert(session: Sample.session("ses_4", owner: "usr_a", secret: 4))
        }
        #expect(try await store.session(id: "ses_4") == nil)
        for epoch in 0...1 {
            await #expect(throws: StateSurfaceError.ownerGone) {
                try await store.insert(
                    family: Sample.family("late", token: 300), judged: JudgedOwner(credentialEpoch: Int64(epoch)))
            }
        }
    }

    @Sendable private static func tombstones(_ store: Store) async throws {
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

    @Sendable private static func closedFamily(_ store: Store) async throws {
        try await store.insert(session: Sample.session())
        try await store.insert(family: Sample.family())
        _ = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 1)
        await #expect(throws: StateSurfaceError.ownerGone) {
            _ = try await store.change(sessionID: "ses_a") { stored in
                var next = stored
                next?.state = .authenticated
                next?.tenantID = "acme"
                next?.userID = "usr_a"
                next?.familyID = "fam"
                return (next: next, outcome: true)
            }
        }
        #expect(try await store.session(id: "ses_a")?.state == .anonymous)
    }

    @Sendable private static func end(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(family: Sample.family())
        try await store.insert(session: Sample.session("ses_home", owner: "usr_a", family: "fam", secret: 1))
        try await store.insert(session: Sample.session("ses_guest", owner: "usr_a", family: "fam", secret: 2))
        try await store.insert(session: Sample.session("ses_free", owner: "usr_a", secret: 3))
        let feed = ChangeRecorder(store)
        let ended = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
        #expect(ended.sorted() == ["ses_guest", "ses_home"])
        let revocation = Revocation(kind: .family, id: "fam", expiresAt: Sample.now + 900)
        #expect(feed.changes.contains(.revoked(revocation)))
        #expect(feed.changes.contains(.familyEnded(id: "fam")))
        #expect(feed.changes.contains(.session(id: "ses_home", state: .ended, epoch: 0)))
        #expect(feed.changes.contains(.session(id: "ses_guest", state: .ended, epoch: 0)))
        #expect(feed.changes.count == 4)
        feed.forget()
        #expect(try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 950).isEmpty)
        #expect(feed.changes.isEmpty)

        #expect(try await store.family(id: "fam")?.isLive == false)
        #expect(try await store.revocations(now: Sample.now) == [revocation])
        #expect(try await store.revocations(now: Sample.now + 900).isEmpty)
        #expect(try await store.liveFamilies(userID: "usr_a").isEmpty)
        #expect(try await store.rotate(family: Sample.rotated(Sample.family(), token: 101)) == false)
        #expect(try await store.session(id: "ses_free")?.state == .authenticated)
    }

    @Sendable private static func lateGuest(_ store: Store) async throws {
        try await store.insert(family: Sample.family())
        let anonymous = Sample.session("ses_late", secret: 5)
        try await store.insert(session: anonymous)
        _ = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
        await #expect(throws: StateSurfaceError.ownerGone) {
            try await store.insert(session: Sample.session("ses_guest", owner: "usr_a", family: "fam"))
        }
        #expect(try await store.session(id: "ses_guest") == nil)
        var upgraded = anonymous
        upgraded.state = .authenticated
        upgraded.tenantID = "acme"
        upgraded.userID = "usr_a"
        upgraded.familyID = "fam"
        let late = upgraded
        await #expect(throws: StateSurfaceError.ownerGone) { try await store.replace(session: late) }
        #expect(try await store.session(id: "ses_late") == anonymous)
    }

    @Sendable private static func guestRace(_ store: Store) async throws {
        try await store.insert(family: Sample.family())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                group.addTask {
                    do {
                        try await store.insert(
                            session: Sample.session("ses_\(index)", owner: "usr_a", family: "fam", secret: index))
                    } catch let error as StateSurfaceError where error.code == .ownerGone {
                        // It came too late.
                    }
                }
                if index == 30 {
                    group.addTask {
                        _ = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
                    }
                }
            }
            try await group.waitForAll()
        }
        let live = try await store.liveSessions(tenantID: "acme", userID: "usr_a", now: Sample.now, limit: 100)
        #expect(live.isEmpty)
    }

    @Sendable private static func forgotten(_ store: Store) async throws {
        try await store.insert(family: Sample.family())
        try await store.revoke(Revocation(kind: .token, id: "jti", expiresAt: Sample.now + 1_000_000))
        _ = try await store.expireSessions(now: Sample.now + 999_999, limit: 10)
        #expect(try await store.family(tokenHash: Sample.hash(100)) != nil)
        #expect(try await store.revocations(now: 0).count == 1)
        // Its last tokens are accepted a little longer than they say.
        _ = try await store.expireSessions(now: Sample.now + 1_000_000 + 119_999, limit: 10)
        #expect(try await store.family(id: "fam") != nil)
        _ = try await store.expireSessions(now: Sample.now + 1_000_000 + 120_000, limit: 10)
        #expect(try await store.family(tokenHash: Sample.hash(100)) == nil)
        #expect(try await store.family(id: "fam") == nil)
        // A node whose clock is an hour ahead takes away no revocation that the others still need.
        _ = try await store.expireSessions(now: Sample.now + 1_000_000 + 3_599_999, limit: 10)
        #expect(try await store.revocations(now: 0).count == 1)
        _ = try await store.expireSessions(now: Sample.now + 1_000_000 + 3_600_000, limit: 10)
        #expect(try await store.revocations(now: 0).isEmpty)
    }

    @Sendable private static func forgottenOfMany(_ store: Store) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<50 {
                group.addTask {
                    for number in 0..<90 {
                        let end = Sample.now + (number < 88 ? 1_000 : 2_000)
                        try await store.revoke(Revocation(kind: .token, id: "jti_\(part)_\(number)", expiresAt: end))
                    }
                }
            }
            try await group.waitForAll()
        }
        _ = try await store.expireSessions(now: Sample.now + 1_000 + 3_600_000, limit: 10)
        #expect(try await store.revocations(now: 0).count == 100)
    }

    @Sendable private static func revocations(_ place: StorePlace<Store>) async throws {
        let store = try await place.open()
        let other = try await place.open()
        let end = Sample.now + 9_000
        try await other.note(reach: Self.long, goodUntil: end)
        let feed = ChangeRecorder(other)
        for (user, token) in [("usr_a", 100), ("usr_b", 200)] {
            try await store.insert(account: Sample.account(user, email: user))
            try await store.insert(family: Sample.family("fam_\(user)", user: user, token: token))
        }
        let client = ClientRecord(
            clientID: "cli_a", tenantID: "acme", name: "ci", secretHash: Sample.hash(1), scope: [],
            createdAt: Sample.now)
        try await store.insert(client: client)
        _ = try await store.endFamily(id: "fam_usr_a", at: Sample.now, revokedUntil: Sample.now + 1)
        #expect(try await store.disable(userID: "usr_b", at: Sample.now, revokedUntil: Sample.now + 1))
        #expect(try await store.disable(clientID: "cli_a", at: Sample.now, revokedUntil: Sample.now + 1))
        try await store.revoke(Revocation(kind: .family, id: "longer", expiresAt: end + 1))
        // When a single token ends is known.
        try await store.revoke(Revocation(kind: .token, id: "jti", expiresAt: Sample.now + 1))
        let kept = try await store.revocations(now: Sample.now)
        let ends = Dictionary(uniqueKeysWithValues: kept.map { ($0.id, $0.expiresAt) })
        #expect(
            ends == [
                "fam_usr_a": end, "fam_usr_b": end, "usr_b": end, "cli_a": end, "longer": end + 1,
                "jti": Sample.now + 1,
            ])
        // Other nodes are told the same.
        #expect(
            try await feed.hears { changes in
                changes.contains(.revoked(Revocation(kind: .family, id: "fam_usr_a", expiresAt: end)))
            })
    }

    @Sendable private static func versions(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(family: Sample.family())
        _ = try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now + 900)
        let account = try #require(try await store.account(userID: "usr_a"))
        let first = try await store.revocations(now: Sample.now)
        #expect(first.contains(Revocation(kind: .family, id: "fam", expiresAt: Sample.now + 900)))
        #expect(first.first { $0.kind == .subject }?.accountVersion == account.version)
        var enabled = account
        enabled.disabled = false
        #expect(try await store.replace(account: enabled))
        _ = try await store.disable(userID: "usr_a", at: Sample.now - 5, revokedUntil: Sample.now + 900)
        let second = try await store.revocations(now: Sample.now).first { $0.kind == .subject }
        #expect(second?.accountVersion == account.version + 2 && second?.issuedUntil == Sample.now)
        // One that names no version takes none back.
        try await store.revoke(Revocation(kind: .subject, id: "usr_a", issuedUntil: 1, expiresAt: 1))
        let third = try await store.revocations(now: Sample.now).first { $0.kind == .subject }
        #expect(third == second)
    }

    @Sendable private static func swept(_ store: Store) async throws {
        try await store.note(reach: long, goodUntil: Sample.now + 5_000)
        let ticket = TicketRecord(
            hash: Sample.hash(1), sessionID: "ses_a", epoch: 3, facts: [], origin: nil, expiresAt: Sample.now + 30_000)
        #expect(try await store.put(ticket: ticket, limit: 2, now: Sample.now))
        // Another node's clock may be a minute behind.
        _ = try await store.expireSessions(now: Sample.now + 89_999, limit: 10)
        #expect(try await store.ticket(hash: Sample.hash(1)) == ticket)
        #expect(try await store.tokenReach(now: 0) == nil)
        _ = try await store.expireSessions(now: Sample.now + 200_000, limit: 10)
        #expect(try await store.ticket(hash: Sample.hash(1)) == nil)
    }

    @Sendable private static func nul(_ store: Store) async throws {
        try await store.insert(session: Sample.session("ses_a"))
        #expect(try await store.session(id: "ses_a\0x") == nil)
        await #expect(throws: StateSurfaceError(.failed, "")) {
            try await store.insert(session: Sample.session("ses_b\0", secret: 2))
        }
    }
}
