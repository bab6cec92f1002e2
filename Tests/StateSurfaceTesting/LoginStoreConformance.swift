import StateSurface
import Testing

/// What every ``LoginStore`` promises of its transactions.
package enum LoginStoreConformance {
    package typealias Store = any LoginStore & ChangeFeed

    package static let rules: [StoreRule<Store>] = [
        StoreRule("What a transaction has done is there as a whole, and told, when it returns", together),
        StoreRule("A transaction that throws has done nothing and told nothing", undone),
        StoreRule("A transaction that throws takes no other with it", alone),
        StoreRule("What a transaction reads is what it has written", readsItself),
        StoreRule("Only live families of the user that are at home in the session are found by it", homes),
        StoreRule("What has no owner any more is not written in a transaction either", ownerGone),
        StoreRule("Of many transactions at once on one session none overwrites what another wrote", linear),
    ]

    /// An error of the caller's own.
    private struct Changed: TransactionAbort {}

    /// A family and its home, as a login writes them.
    @Sendable private static func logIn(_ transaction: any StoreTransaction, _ name: String = "a") throws {
        let seed = Int(name.utf8.first ?? 0)
        try transaction.insert(
            family: Sample.family("fam_" + name, home: "ses_" + name, token: 100 + seed), judged: JudgedOwner())
        try transaction.insert(
            session: Sample.session("ses_" + name, owner: "usr_a", family: "fam_" + name, secret: seed))
    }

    @Sendable private static func together(_ store: Store) async throws {
        let feed = ChangeRecorder(store)
        let outcome = try await store.transaction { transaction in
            try logIn(transaction)
            _ = try transaction.endFamily(id: "fam_other", at: Sample.now, revokedUntil: Sample.now + 900)
            return 7
        }
        #expect(outcome == 7)
        #expect(try await store.family(id: "fam_a")?.binding == "ses_a")
        #expect(try await store.session(id: "ses_a")?.familyID == "fam_a")
        #expect(feed.changes.contains(.session(id: "ses_a", state: .authenticated, epoch: 0)))
        #expect(feed.changes.contains(.familyEnded(id: "fam_other")))
    }

    @Sendable private static func undone(_ store: Store) async throws {
        let feed = ChangeRecorder(store)
        await #expect(throws: Changed.self) {
            try await store.transaction { transaction in
                try logIn(transaction)
                throw Changed()
            }
        }
        // What the store refuses undoes the rest as well.
        await #expect(throws: StateSurfaceError(.duplicate, "")) {
            try await store.transaction { transaction in
                try logIn(transaction)
                try logIn(transaction)
            }
        }
        #expect(try await store.family(id: "fam_a") == nil)
        #expect(try await store.session(id: "ses_a") == nil)
        #expect(try await store.family(tokenHash: Sample.hash(100 + 97)) == nil)
        #expect(feed.changes.isEmpty)
        // The control: the same, left alone.
        try await store.transaction { try logIn($0) }
        #expect(try await store.session(id: "ses_a") != nil)
        #expect(!feed.changes.isEmpty)
    }

    @Sendable private static func alone(_ store: Store) async throws {
        let names = (0..<24).map { String(UnicodeScalar(UInt8(97 + $0))) }
        let failed = try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, name) in names.enumerated() {
                group.addTask {
                    do {
                        try await store.transaction { transaction in
                            try logIn(transaction, name)
                            if index.isMultiple(of: 3) { throw Changed() }
                        }
                        return 0
                    } catch is Changed {
                        return 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(failed == 8)
        for (index, name) in names.enumerated() {
            let isThere = !index.isMultiple(of: 3)
            #expect(try await (store.session(id: "ses_" + name) != nil) == isThere, "\(name)")
            #expect(try await (store.family(id: "fam_" + name) != nil) == isThere, "\(name)")
        }
    }

    @Sendable private static func readsItself(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.transaction { transaction in
            try logIn(transaction)
            #expect(try transaction.account(userID: "usr_a") == Sample.account())
            #expect(try transaction.family(id: "fam_a")?.isLive == true)
            var session = try #require(try transaction.session(id: "ses_a"))
            session.epoch = 4
            #expect(try transaction.replace(session: session))
            // Its version has moved on.
            #expect(try !transaction.replace(session: session))
            #expect(try transaction.session(id: "ses_a")?.epoch == 4)
            let surplus = try transaction.surplusSessions(userID: "usr_a", sparing: "ses_x", limit: 0)
            #expect(surplus == [SurplusSession(id: "ses_a", homeOf: "fam_a")])
            #expect(try transaction.endFamily(id: "fam_a", at: Sample.now, revokedUntil: Sample.now + 1) == ["ses_a"])
            #expect(try transaction.session(id: "ses_a")?.state == .ended)
        }
        #expect(try await store.session(id: "ses_a")?.state == .ended)
    }

    @Sendable private static func homes(_ store: Store) async throws {
        let families = [
            Sample.family("one", home: "ses_a", token: 1), Sample.family("two", home: "ses_a", token: 2),
            Sample.family("elsewhere", home: "ses_b", token: 3),
            Sample.family("foreign", user: "usr_b", home: "ses_a", token: 4),
            Sample.family("dead", home: "ses_a", token: 5),
        ]
        for family in families { try await store.insert(family: family) }
        _ = try await store.endFamily(id: "dead", at: Sample.now, revokedUntil: Sample.now + 1)
        let found = try await store.transaction { try $0.families(of: "usr_a", atHomeIn: "ses_a").map(\.id) }
        #expect(found.sorted() == ["one", "two"])
    }

    @Sendable private static func ownerGone(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        let judged = JudgedOwner(credentialEpoch: 0)
        _ = try await store.changePassword(
            PasswordChange(
                userID: "usr_a", passwordHash: "new", at: Sample.now, revokedUntil: Sample.now + 900))
        await #expect(throws: StateSurfaceError.ownerGone) {
            try await store.transaction { transaction in
                try transaction.insert(session: Sample.session("ses_a"))
                try transaction.insert(family: Sample.family(), judged: judged)
            }
        }
        #expect(try await store.session(id: "ses_a") == nil)
        _ = try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now + 900)
        await #expect(throws: StateSurfaceError.ownerGone) {
            try await store.transaction { try $0.insert(session: Sample.session("ses_a", owner: "usr_a")) }
        }
    }

    @Sendable private static func linear(_ store: Store) async throws {
        try await store.insert(session: Sample.session())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    while true {
                        do {
                            return try await store.transaction { transaction in
                                var session = try #require(try transaction.session(id: "ses_a"))
                                session.epoch += 1
                                guard try transaction.replace(session: session) else { throw Changed() }
                            }
                        } catch is Changed {
                            // Another was faster.
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let stored = try await store.session(id: "ses_a")
        #expect(stored?.epoch == 24 && stored?.version == 24)
    }
}
