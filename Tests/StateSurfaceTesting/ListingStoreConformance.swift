import StateSurface
import Testing

/// What every ``ListingStore`` promises.
package enum ListingStoreConformance {
    package typealias Store = any ListingStore & SessionStore & AccountStore & FamilyStore & ClientStore & GrantStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Pages of live sessions follow each other by id, without a gap and without the dead", pages),
        StoreRule("A page of one user has that user's sessions alone, with the e-mail of the account", ofUser),
        StoreRule("Users with live grants are listed once each; families without a resource are none", granting),
    ]

    @Sendable private static func pages(_ store: Store) async throws {
        for number in 0..<25 {
            let id = "ses_" + String(100 + (number * 7) % 25)
            try await store.insert(session: Sample.session(id, secret: number))
        }
        let dead = try #require(try await store.session(id: "ses_103"))
        var ended = dead
        ended.state = .ended
        #expect(try await store.replace(session: ended))
        for limit in [1, 4, 24, 100] {
            var (found, last): ([String], String) = ([], "")
            while true {
                let page = try await store.liveSessions(after: last, userID: nil, now: Sample.now, limit: limit)
                #expect(page.count <= limit)
                found += page.map(\.id)
                guard let next = page.last?.id else { break }
                last = next
            }
            #expect(found == (100..<125).map { "ses_\($0)" }.filter { $0 != "ses_103" })
        }
        #expect(
            try await store.liveSessions(after: "", userID: nil, now: Sample.now + 600_001, limit: 100).isEmpty,
            "expired")
        #expect(try await store.liveSessions(after: "\0", userID: nil, now: Sample.now, limit: 1).isEmpty)
    }

    @Sendable private static func ofUser(_ store: Store) async throws {
        try await store.insert(account: Sample.account("usr_a"))
        for (id, owner) in [("ses_1", "usr_a"), ("ses_2", nil), ("ses_3", "usr_b"), ("ses_4", "usr_a")] {
            try await store.insert(session: Sample.session(id, owner: owner, secret: id.hashValue))
        }
        let mine = try await store.liveSessions(after: "", userID: "usr_a", now: Sample.now, limit: 10)
        #expect(mine.map(\.id) == ["ses_1", "ses_4"] && mine.allSatisfy { $0.email == "ada@example.com" })
        #expect(mine.first?.tenantID == "acme" && mine.first?.state == .authenticated)
        let next = try await store.liveSessions(after: "ses_1", userID: "usr_a", now: Sample.now, limit: 1)
        #expect(next.map(\.id) == ["ses_4"])
        let all = try await store.liveSessions(after: "", userID: nil, now: Sample.now, limit: 10)
        #expect(all.map(\.email) == ["ada@example.com", nil, nil, "ada@example.com"])
    }

    @Sendable private static func granting(_ store: Store) async throws {
        for (index, (id, user, resource)) in [
            ("f1", "usr_c", "https://r"), ("f2", "usr_a", "https://r"), ("f3", "usr_a", "https://s"),
            ("f4", "usr_b", nil as String?),
        ].enumerated() {
            var family = Sample.family(id, user: user, home: "ses_x", token: 10 + index)
            family.resource = resource
            try await store.insert(family: family)
        }
        #expect(try await store.grantingUsers(after: "", limit: 10) == ["usr_a", "usr_c"])
        #expect(try await store.grantingUsers(after: "", limit: 1) == ["usr_a"])
        #expect(try await store.grantingUsers(after: "usr_a", limit: 10) == ["usr_c"])
        #expect(try await store.grantingUsers(after: "usr_c", limit: 10).isEmpty)
        // A remembered consent counts, also when its family has ended.
        try await store.insert(account: Sample.account("usr_b"))
        try await store.insert(session: Sample.session("ses_b", owner: "usr_b"))
        try await store.insert(
            client: ClientRecord(
                clientID: "cli_a", tenantID: "", name: "Agent", secretHash: [], scope: [], createdAt: Sample.now))
        let family = FamilyRecord(
            id: "f5", tenantID: "acme", userID: "usr_b", clientID: "cli_a", scope: [], binding: nil,
            createdAt: Sample.now, absoluteExpiresAt: Sample.now + 60_000, currentHash: [], resource: "https://r")
        _ = try await store.open(
            grant: family, judged: JudgedOwner(credentialEpoch: 0, clientID: "cli_a"),
            in: AuthorizingSession(id: "ses_b", epoch: 0), consent: .remembered(at: Sample.now))
        _ = try await store.endFamily(id: "f5", at: Sample.now, revokedUntil: Sample.now + 1)
        #expect(try await store.grantingUsers(after: "", limit: 10) == ["usr_a", "usr_b", "usr_c"])
        #expect(try await store.grantingUsers(after: "usr_a", limit: 1) == ["usr_b"])
    }
}
