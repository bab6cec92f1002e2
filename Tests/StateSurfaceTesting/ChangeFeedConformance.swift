import BasicsForTests
import StateSurface
import Testing

/// What every ``ChangeFeed`` promises. Changes have to be made to be heard of, hence the other roles.
package enum ChangeFeedConformance {
    package typealias Store = any ChangeFeed & SessionStore & FamilyStore & RevocationStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Observers here have been told when the call returns", toldBeforeReturn),
        StoreRule("What did not happen is not told", failuresAreSilent),
        StoreRule("Another node hears within a second, in order and once", otherNode),
        StoreRule("A node is not told twice of what it did itself", notTwice),
        StoreRule("A cancelled subscription hears nothing more", cancelled),
        StoreRule("The feed of a store that is there beats, and is not lost", beats),
    ]

    @Sendable private static func toldBeforeReturn(_ store: Store) async throws {
        let feed = ChangeRecorder(store)
        var session = Sample.session()
        try await store.insert(session: session)
        #expect(feed.changes == [.session(id: "ses_a", state: .anonymous, epoch: 0)])
        session.epoch = 4
        _ = try await store.replace(session: session)
        #expect(feed.changes.last == .session(id: "ses_a", state: .anonymous, epoch: 4))
        let revocation = Revocation(kind: .token, id: "j|t\u{1F}i", issuedUntil: 1, expiresAt: 2)
        try await store.revoke(revocation)
        #expect(feed.changes.last == .revoked(revocation))
    }

    @Sendable private static func failuresAreSilent(_ store: Store) async throws {
        try await store.insert(session: Sample.session())
        let feed = ChangeRecorder(store)
        try? await store.insert(session: Sample.session())
        var old = Sample.session()
        old.version = 7
        _ = try await store.replace(session: old)
        #expect(feed.changes.isEmpty)
    }

    @Sendable private static func otherNode(_ place: StorePlace<Store>) async throws {
        let here = try await place.open()
        let there = try await place.open()
        let feed = ChangeRecorder(there)
        try await here.insert(family: Sample.family())
        for index in 0..<50 {
            try await here.insert(
                session: Sample.session("ses_\(index)", owner: "usr_a", family: "fam", secret: index))
        }
        _ = try await here.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
        #expect(try await feed.hears { $0.contains(.familyEnded(id: "fam")) })
        let revocation = Revocation(kind: .family, id: "fam", expiresAt: Sample.now + 900)
        #expect(feed.changes.filter { $0 == .revoked(revocation) }.count == 1)
        for index in 0..<50 {
            #expect(feed.changes.contains(.session(id: "ses_\(index)", state: .ended, epoch: 0)))
        }
        #expect(!feed.changes.contains(.reset))
        #expect(try await there.session(id: "ses_0")?.state == .ended)
    }

    @Sendable private static func notTwice(_ place: StorePlace<Store>) async throws {
        let here = try await place.open()
        let there = try await place.open()
        let feed = ChangeRecorder(here)
        try await here.revoke(Revocation(kind: .token, id: "mine", expiresAt: 2))
        try await there.revoke(Revocation(kind: .token, id: "theirs", expiresAt: 2))
        #expect(try await feed.hears { $0.contains(.revoked(.init(kind: .token, id: "theirs", expiresAt: 2))) })
        #expect(feed.changes.count == 2)
    }

    @Sendable private static func cancelled(_ store: Store) async throws {
        let feed = ChangeRecorder(store)
        let subscription = store.subscribe { _ in Issue.record("a cancelled observer was called") }
        subscription.cancel()
        try await store.insert(session: Sample.session())
        #expect(feed.changes.count == 1)
    }

    @Sendable private static func beats(_ store: Store) async throws {
        #expect(
            try await eventually(within: .seconds(20)) {
                store.sinceLastBeat() < .milliseconds(400) && !store.feedIsLost()
            })
    }
}
