import Testing

@testable import StateSurface

@Suite("Refresh families and revocations, on both databases")
struct FamilyConformanceTests {
    @Test("Of two hundred concurrent rotations exactly one wins", arguments: Backend.available)
    func rotationRace(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("Every token a family ever had is known with its position", arguments: Backend.available)
    func positions(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("A rotation leaves the family at home where it is", arguments: Backend.available)
    func binding(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let family = Sample.family()
            try await store.insert(family: family)
            var next = Sample.rotated(family, token: 101)
            next.binding = "ses_b"
            #expect(try await store.rotate(family: next))
            #expect(try await store.family(id: family.id)?.binding == "ses_a")
        }
    }

    @Test("Other nodes hear how long a refreshed family's token lasts; it never shrinks", arguments: Backend.available)
    func refreshed(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let here = try await place.open()
            let ear = Ear(try await place.open())
            let family = Sample.family()
            try await here.insert(family: family)
            var next = Sample.rotated(family, token: 101)
            next.tokenExpiresAt = Sample.now + 500
            next.tokenKey = "thumb"
            #expect(try await here.rotate(family: next))
            let told = Change.familyRefreshed(id: "fam", tokenExpiresAt: Sample.now + 500, key: "thumb")
            #expect(try await ear.hears { $0.contains(told) })
            #expect(try await here.extend(familyID: "fam", tokenExpiresAt: Sample.now + 400, key: "late"))
            #expect(try await here.family(id: "fam")?.tokenExpiresAt == Sample.now + 500)
            // One of the same second counts: another key may have signed it.
            for (expiry, key) in [(Sample.now + 500, "other"), (Sample.now + 600, "newer")] {
                #expect(try await here.extend(familyID: "fam", tokenExpiresAt: expiry, key: key))
                let extended = Change.familyRefreshed(id: "fam", tokenExpiresAt: expiry, key: key)
                #expect(try await ear.hears { $0.contains(extended) })
            }
            let late = Change.familyRefreshed(id: "fam", tokenExpiresAt: Sample.now + 400, key: "late")
            #expect(!ear.changes.contains(late))
            _ = try await here.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
            #expect(try await here.extend(familyID: "fam", tokenExpiresAt: Sample.now + 700, key: nil) == false)
            #expect(try await here.family(id: "fam")?.tokenExpiresAt == Sample.now + 600)
        }
    }

    @Test("The end of a family ends its home and guests and revokes its tokens, once", arguments: Backend.available)
    func end(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(account: Sample.account())
            try await store.insert(family: Sample.family())
            try await store.insert(session: Sample.session("ses_home", owner: "usr_a", family: "fam", secret: 1))
            try await store.insert(session: Sample.session("ses_guest", owner: "usr_a", family: "fam", secret: 2))
            try await store.insert(session: Sample.session("ses_free", owner: "usr_a", secret: 3))
            let ear = Ear(store)
            let ended = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
            #expect(ended.sorted() == ["ses_guest", "ses_home"])
            let revocation = Revocation(kind: .family, id: "fam", expiresAt: Sample.now + 900)
            #expect(ear.changes.contains(.revoked(revocation)))
            #expect(ear.changes.contains(.familyEnded(id: "fam")))
            #expect(ear.changes.contains(.session(id: "ses_home", state: .ended, epoch: 0)))
            #expect(ear.changes.contains(.session(id: "ses_guest", state: .ended, epoch: 0)))
            #expect(ear.changes.count == 4)
            ear.forget()
            #expect(try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 950).isEmpty)
            #expect(ear.changes.isEmpty)

            #expect(try await store.family(id: "fam")?.isLive == false)
            #expect(try await store.revocations(now: Sample.now) == [revocation])
            #expect(try await store.revocations(now: Sample.now + 900).isEmpty)
            #expect(try await store.liveFamilies(userID: "usr_a").isEmpty)
            #expect(try await store.rotate(family: Sample.rotated(Sample.family(), token: 101)) == false)
            #expect(try await store.session(id: "ses_free")?.state == .authenticated)
        }
    }

    @Test("No session is written into a family that has ended", arguments: Backend.available)
    func lateGuest(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("Guests that arrive while their family ends never outlive it", arguments: Backend.available)
    func guestRace(_ backend: Backend) async throws {
        try await backend.withStore { store in
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
    }

    @Test("A revocation only grows", arguments: Backend.available)
    func growing(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.revoke(Revocation(kind: .subject, id: "usr_a", issuedUntil: 500, expiresAt: 2_000))
            try await store.revoke(Revocation(kind: .subject, id: "usr_a", issuedUntil: 400, expiresAt: 3_000))
            try await store.revoke(Revocation(kind: .token, id: "usr_a", expiresAt: 100))
            #expect(
                try await store.revocations(now: 1_000)
                    == [Revocation(kind: .subject, id: "usr_a", issuedUntil: 500, expiresAt: 3_000)])
        }
    }

    @Test("Families and revocations past their end are forgotten, tokens included", arguments: Backend.available)
    func forgotten(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(family: Sample.family())
            try await store.revoke(Revocation(kind: .token, id: "jti", expiresAt: Sample.now + 1_000_000))
            _ = try await store.expireSessions(now: Sample.now + 999_999, limit: 10)
            #expect(try await store.family(tokenHash: Sample.hash(100)) != nil)
            #expect(try await store.revocations(now: 0).count == 1)
            _ = try await store.expireSessions(now: Sample.now + 1_000_000, limit: 10)
            #expect(try await store.revocations(now: 0).isEmpty)
            // Its last tokens are accepted a little longer than they say.
            _ = try await store.expireSessions(now: Sample.now + 1_000_000 + 119_999, limit: 10)
            #expect(try await store.family(id: "fam") != nil)
            _ = try await store.expireSessions(now: Sample.now + 1_000_000 + 120_000, limit: 10)
            #expect(try await store.family(tokenHash: Sample.hash(100)) == nil)
            #expect(try await store.family(id: "fam") == nil)
        }
    }

    @Test("A token that is already known opens no second family", arguments: Backend.available)
    func duplicateToken(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(family: Sample.family("one"))
            await #expect(throws: StateSurfaceError(.duplicate, "")) {
                try await store.insert(family: Sample.family("two"))
            }
            #expect(try await store.family(id: "two") == nil)
        }
    }
}
