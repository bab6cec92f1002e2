import StateSurface
import Testing

/// What every ``FamilyStore`` promises.
package enum FamilyStoreConformance {
    package typealias Store = any FamilyStore & ChangeFeed

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Of two hundred concurrent rotations exactly one wins", rotationRace),
        StoreRule("Every token a family ever had is known with its position", positions),
        StoreRule("A rotation leaves the family at home where it is", binding),
        StoreRule("Other nodes hear how long a refreshed family's token lasts; it never shrinks", refreshed),
        StoreRule("Other nodes hear of a session that a newer foreign token extends", sessionExtended),
        StoreRule("A token that is already known opens no second family", duplicateToken),
        StoreRule("How its owner signed in stays with a family, and finds it while it is live", signIn),
    ]

    @Sendable private static func signIn(_ store: Store) async throws {
        var family = Sample.family()
        family.signIn = SignInFacts(
            authenticatedAt: Sample.now - 5, acr: "phr", provider: "corp", providerSession: "s1")
        family.resource = "https://gate.example/mcp"
        try await store.insert(family: family)
        try await store.insert(family: Sample.family("other", home: "ses_b", token: 200))
        #expect(try await store.rotate(family: Sample.rotated(family, token: 101)))
        let stored = try #require(try await store.family(id: family.id))
        #expect(stored.signIn == family.signIn && stored.resource == family.resource)
        #expect(try await store.family(id: "other")?.signIn == nil)
        #expect(try await store.liveFamilies(provider: "corp", providerSession: "s1").map(\.id) == [family.id])
        #expect(try await store.liveFamilies(provider: "corp", providerSession: "s2").isEmpty)
        #expect(try await store.liveFamilies(provider: "else", providerSession: "s1").isEmpty)
        _ = try await store.endFamily(id: family.id, at: Sample.now, revokedUntil: Sample.now + 1)
        #expect(try await store.liveFamilies(provider: "corp", providerSession: "s1").isEmpty)
    }

    @Sendable private static func rotationRace(_ store: Store) async throws {
        let family = Sample.family()
        try await store.insert(family: family)
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try await store.rotate(family: Sample.rotated(family, token: 1_000 + index)) ? index : nil
                }
            }
            return try await group.reduce(into: [Int]()) { if let index = $1 { $0.append(index) } }
        }
        #expect(winners.count == 1)
        let winner = try #require(winners.first)
        #expect(try await store.family(id: family.id)?.currentHash == Sample.hash(1_000 + winner))
    }

    @Sendable private static func positions(_ store: Store) async throws {
        var family = Sample.family()
        try await store.insert(family: family)
        for token in 101...103 {
            family = Sample.rotated(family, token: token)
            #expect(try await store.rotate(family: family))
        }
        for token in 100...103 {
            let found = try #require(try await store.family(tokenHash: Sample.hash(token)))
            #expect(found.position == Int64(token - 100))
            #expect(found.family == family)
        }
        #expect(try await store.family(tokenHash: Sample.hash(99)) == nil)
    }

    @Sendable private static func binding(_ store: Store) async throws {
        let family = Sample.family()
        try await store.insert(family: family)
        var next = Sample.rotated(family, token: 101)
        next.binding = "ses_b"
        #expect(try await store.rotate(family: next))
        #expect(try await store.family(id: family.id)?.binding == "ses_a")
    }

    @Sendable private static func refreshed(_ place: StorePlace<Store>) async throws {
        let here = try await place.open()
        let feed = ChangeRecorder(try await place.open())
        let family = Sample.family()
        try await here.insert(family: family)
        var next = Sample.rotated(family, token: 101)
        next.tokenExpiresAt = Sample.now + 500
        next.tokenKey = "thumb"
        #expect(try await here.rotate(family: next))
        let told = Change.familyRefreshed(id: "fam", tokenExpiresAt: Sample.now + 500, key: "thumb")
        #expect(try await feed.hears { $0.contains(told) })
        #expect(try await here.extend(familyID: "fam", tokenExpiresAt: Sample.now + 400, key: "late"))
        #expect(try await here.family(id: "fam")?.tokenExpiresAt == Sample.now + 500)
        // One of the same second counts: another key may have signed it.
        for (expiry, key) in [(Sample.now + 500, "other"), (Sample.now + 600, "newer")] {
            #expect(try await here.extend(familyID: "fam", tokenExpiresAt: expiry, key: key))
            let extended = Change.familyRefreshed(id: "fam", tokenExpiresAt: expiry, key: key)
            #expect(try await feed.hears { $0.contains(extended) })
        }
        let late = Change.familyRefreshed(id: "fam", tokenExpiresAt: Sample.now + 400, key: "late")
        #expect(!feed.changes.contains(late))
        _ = try await here.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
        #expect(try await here.extend(familyID: "fam", tokenExpiresAt: Sample.now + 700, key: nil) == false)
        let stored = try #require(try await here.family(id: "fam"))
        // Which key has signed the token is told, and not kept.
        #expect(stored.tokenExpiresAt == Sample.now + 600 && stored.tokenKey == nil)
    }

    @Sendable private static func sessionExtended(_ place: StorePlace<Store>) async throws {
        let here = try await place.open()
        let feed = ChangeRecorder(try await place.open())
        try await here.report(extensionOf: "ses_a", origin: "issuer-and-subject", tokenExpiresAt: Sample.now + 500)
        let told = Change.sessionExtended(
            id: "ses_a", origin: "issuer-and-subject", tokenExpiresAt: Sample.now + 500)
        #expect(try await feed.hears { $0.contains(told) })
    }

    @Sendable private static func duplicateToken(_ store: Store) async throws {
        try await store.insert(family: Sample.family("one"))
        await #expect(throws: StateSurfaceError(.duplicate, "")) {
            try await store.insert(family: Sample.family("two"))
        }
        #expect(try await store.family(id: "two") == nil)
    }
}
