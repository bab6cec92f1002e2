import Testing

@testable import StateSurface

@Suite("The feed, on both databases", .serialized)
struct FeedConformanceTests {
    @Test("Observers here have been told when the call returns", arguments: Backend.available)
    func toldBeforeReturn(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let recorder = ChangeRecorder(store)
            var session = Sample.session()
            try await store.insert(session: session)
            #expect(recorder.changes == [.session(id: "ses_a", state: .anonymous, epoch: 0)])
            session.epoch = 4
            _ = try await store.replace(session: session)
            #expect(recorder.changes.last == .session(id: "ses_a", state: .anonymous, epoch: 4))
            let revocation = Revocation(kind: .token, id: "j|t\u{1F}i", issuedUntil: 1, expiresAt: 2)
            try await store.revoke(revocation)
            #expect(recorder.changes.last == .revoked(revocation))
        }
    }

    @Test("What did not happen is not told", arguments: Backend.available)
    func failuresAreSilent(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(session: Sample.session())
            let recorder = ChangeRecorder(store)
            try? await store.insert(session: Sample.session())
            var old = Sample.session()
            old.version = 7
            _ = try await store.replace(session: old)
            #expect(recorder.changes.isEmpty)
        }
    }

    @Test("Another node hears within a second, in order and once", arguments: Backend.available)
    func otherNode(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let here = try await place.open()
            let there = try await place.open()
            let recorder = ChangeRecorder(there)
            try await here.insert(family: Sample.family())
            for index in 0..<50 {
                try await here.insert(
                    session: Sample.session("ses_\(index)", owner: "usr_a", family: "fam", secret: index))
            }
            _ = try await here.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
            #expect(try await recorder.hears { $0.contains(.familyEnded(id: "fam")) })
            let revocation = Revocation(kind: .family, id: "fam", expiresAt: Sample.now + 900)
            #expect(recorder.changes.filter { $0 == .revoked(revocation) }.count == 1)
            for index in 0..<50 {
                #expect(recorder.changes.contains(.session(id: "ses_\(index)", state: .ended, epoch: 0)))
            }
            #expect(!recorder.changes.contains(.reset))
            #expect(try await there.session(id: "ses_0")?.state == .ended)
        }
    }

    @Test("A node is not told twice of what it did itself", arguments: Backend.available)
    func notTwice(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let here = try await place.open()
            let there = try await place.open()
            let recorder = ChangeRecorder(here)
            try await here.revoke(Revocation(kind: .token, id: "mine", expiresAt: 2))
            try await there.revoke(Revocation(kind: .token, id: "theirs", expiresAt: 2))
            #expect(try await recorder.hears { $0.contains(.revoked(.init(kind: .token, id: "theirs", expiresAt: 2))) })
            #expect(recorder.changes.count == 2)
        }
    }

    @Test("A cancelled subscription hears nothing more", arguments: Backend.available)
    func cancelled(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let recorder = ChangeRecorder(store)
            let subscription = store.subscribe { _ in Issue.record("a cancelled observer was called") }
            subscription.cancel()
            try await store.insert(session: Sample.session())
            #expect(recorder.changes.count == 1)
        }
    }

    @Test("The feed beats while the store is there and not after it was closed", arguments: Backend.available)
    func beats(_ backend: Backend) async throws {
        try await backend.withStore { store in
            #expect(try await eventually(within: .seconds(3)) { store.sinceLastBeat() < .milliseconds(400) })
            try await store.ping()
            await store.close()
            await #expect(throws: StateSurfaceError(.unavailable, "")) { try await store.ping() }
            #expect(try await eventually(within: .seconds(4)) { store.sinceLastBeat() > .seconds(1) })
        }
    }

    @Test("Everything is still there after a reopening", arguments: Backend.available)
    func reopened(_ backend: Backend) async throws {
        try await backend.withPlace { place in
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

    @Test("Several nodes that open an empty store at once all find it ready", arguments: Backend.available)
    func openedAtOnce(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let url = place.url
            let stores = try await withThrowingTaskGroup(of: (any StateSurface).self) { group in
                for _ in 0..<4 {
                    group.addTask { try await StateSurfaceFactory.open(url: url, clock: { 0 }) }
                }
                return try await group.reduce(into: [any StateSurface]()) { $0.append($1) }
            }
            try await stores[0].insert(session: Sample.session())
            for store in stores {
                #expect(try await store.session(id: "ses_a") != nil)
                await store.close()
            }
        }
    }
}
