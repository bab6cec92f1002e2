import StateSurface
import Testing

/// What every ``RevocationStore`` promises.
package enum RevocationStoreConformance {
    package typealias Store = any RevocationStore & ChangeFeed

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A revocation only grows", growing),
        StoreRule("The reach of all nodes covers each of them, until it ends", joined),
    ]

    private static let short = TokenReach(lifetime: 1_000, clockSkew: 30_000)
    private static let long = TokenReach(lifetime: 3_600_000, clockSkew: 0)

    @Sendable private static func growing(_ store: Store) async throws {
        try await store.revoke(Revocation(kind: .subject, id: "usr_a", issuedUntil: 500, expiresAt: 2_000))
        try await store.revoke(Revocation(kind: .subject, id: "usr_a", issuedUntil: 400, expiresAt: 3_000))
        try await store.revoke(Revocation(kind: .token, id: "usr_a", expiresAt: 100))
        #expect(
            try await store.revocations(now: 1_000)
                == [Revocation(kind: .subject, id: "usr_a", issuedUntil: 500, expiresAt: 3_000)])
    }

    @Sendable private static func joined(_ place: StorePlace<Store>) async throws {
        let (here, there) = (try await place.open(), try await place.open())
        #expect(try await here.tokenReach(now: Sample.now) == nil)
        let feed = ChangeRecorder(there)
        try await here.note(reach: Self.short, goodUntil: Sample.now + 1_000)
        #expect(try await there.tokenReach(now: Sample.now) == Self.short)
        #expect(try await feed.hears { $0.contains(.tokenReach(Self.short)) })
        try await there.note(reach: Self.long, goodUntil: Sample.now + 5_000)
        #expect(try await here.tokenReach(now: Sample.now) == TokenReach(lifetime: 3_600_000, clockSkew: 30_000))
        #expect(try await here.tokenReach(now: Sample.now + 1_000) == Self.long)
        #expect(try await here.tokenReach(now: Sample.now + 5_000) == nil)
        // Said again, it is no news, and it is never shortened.
        feed.forget()
        try await here.note(reach: Self.long, goodUntil: Sample.now + 2_000)
        try await here.note(reach: Self.short, goodUntil: Sample.now + 1_500)
        #expect(!feed.changes.contains { if case .tokenReach = $0 { true } else { false } })
        #expect(try await here.tokenReach(now: Sample.now + 4_999) == Self.long)
    }
}
