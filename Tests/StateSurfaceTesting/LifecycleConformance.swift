import BasicsForTests
import StateSurface
import Testing

/// What every ``StateSurface`` promises of its opening and closing. A fake that is there as long as its object has
/// neither, and is not asked.
package enum LifecycleConformance {
    package typealias Store = any StateSurface

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A store answers until it is closed, and its feed beats no longer then", closed),
        StoreRule("Everything is still there after a reopening", reopened),
    ]

    @Sendable private static func closed(_ store: Store) async throws {
        #expect(try await eventually(within: .seconds(20)) { store.sinceLastBeat() < .milliseconds(400) })
        try await store.ping()
        await store.close()
        await #expect(throws: StateSurfaceError(.unavailable, "")) { try await store.ping() }
        #expect(try await eventually(within: .seconds(20)) { store.sinceLastBeat() > .seconds(1) })
    }

    @Sendable private static func reopened(_ place: StorePlace<Store>) async throws {
        let first = try await place.open()
        try await first.insert(account: Sample.account())
        try await first.insert(session: Sample.session(owner: "usr_a", family: "fam"))
        try await first.insert(family: Sample.family())
        await first.close()
        let second = try await place.open()
        #expect(try await second.account(userID: "usr_a") == Sample.account())
        #expect(try await second.session(id: "ses_a") == Sample.session(owner: "usr_a", family: "fam"))
        #expect(try await second.family(id: "fam") == Sample.family())
    }
}
