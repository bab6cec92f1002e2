import EdgeConfiguration
import LeasesForTests
import SecurityGuard
import StateSurface
import Testing

@testable import Leases

/// When leases end, and clocks that jump.
extension LeaseTableTests {
    /// Turns the wheel as the gateway does, and says when the holder was ended.
    func turn(_ table: LeaseTable, until end: Int64, _ holder: Holder) -> Int64? {
        var now = Self.start
        while now <= end {
            table.turn(now: now)
            if !holder.ends.isEmpty { return now }
            now += 50
        }
        return nil
    }

    @Test(
        "Expiry ends it no sooner, and at most a tenth of a second later",
        arguments: [0, 1, 49, 50, 51, 999, 3_000, 51_150, 51_200, 51_201, 120_000, 900_000] as [Int64])
    func expiry(delay: Int64) throws {
        let table = LeaseTable(now: Self.start)
        let holder = Holder()
        let due = Self.start + delay
        _ = table.insert(terms(expiresAt: due), holder: holder)
        let ended = try #require(turn(table, until: due + 1_000, holder))
        #expect(ended >= due && ended <= due + 100)
        #expect(holder.ends == [.tokenExpired] && table.count == 0)
    }

    @Test(
        "What has ended while an upstream thought is seen before the answer begins",
        arguments: [
            ("t", nil, nil), ("dead", nil, .tokenRevoked), ("t", 51, .tokenExpired), ("t", 52, nil),
        ] as [(String, Int64?, LeaseEnd?)])
    func endBeforeUse(token: String, expiresAfter: Int64?, end: LeaseEnd?) {
        let authority = LeaseAuthorityModel(
            endedBefore: { $0.tokenID == "dead" ? .tokenRevoked : nil }, clock: { Self.start + 51 })
        let table = LeaseTable(now: Self.start, authority: authority)
        let terms = terms(token: token, expiresAt: expiresAfter.map { Self.start + $0 })
        #expect(table.endBeforeUse(of: terms) == end)
        #expect(table.endBeforeUse(of: nil) == nil, "an open route")
        #expect(table.count == 0)
    }

    @Test("A lease that a refresh has extended while the upstream thought is not over")
    func extendedBeforeUse() {
        let table = LeaseTable(
            now: Self.start, authority: LeaseAuthorityModel(clock: { Self.start + 51 }))
        let holder = Holder()
        let id = table.insert(terms(expiresAt: Self.start + 50), holder: holder)
        #expect(table.endBeforeUse(of: id) == .tokenExpired)
        table.familyRefreshed("f", expiresAt: Self.start + 1_000)
        #expect(table.endBeforeUse(of: id) == nil)
    }

    @Test("A lease that has moved ends for its new holder alone")
    func moved() {
        let table = LeaseTable(now: Self.start)
        let (upgrade, socket) = (Holder(), Holder())
        let id = table.insert(terms(), holder: upgrade)
        table.move(id, to: socket)
        table.sessionEnded("s")
        #expect(upgrade.ends.isEmpty && socket.ends == [.sessionEnded])
        table.move(id, to: upgrade)
        #expect(table.count == 0)
    }

    @Test("Sessions with something open are told as used once a second")
    func uses() {
        let authority = LeaseAuthorityModel()
        let table = LeaseTable(now: Self.start, authority: authority)
        let holder = Holder()
        let id = table.insert(terms(), holder: holder)
        _ = table.insert(terms(), holder: holder)
        for step in 1...40 { table.turn(now: Self.start + Int64(step) * 50) }
        #expect(authority.uses == ["s", "s"])
        table.remove(id)
        table.sessionEnded("s")
        table.turn(now: Self.start + 9_000)
        #expect(authority.uses.count == 2)
    }

    @Test("At the end of its session the store is asked, and only its answer ends the lease")
    func sessionDue() {
        let authority = LeaseAuthorityModel()
        let table = LeaseTable(now: Self.start, authority: authority)
        let holder = Holder()
        var limited = terms(expiresAt: Self.start + 5_000)
        limited.sessionEndsAt = Self.start + 1_000
        _ = table.insert(limited, holder: holder)
        table.turn(now: Self.start + 900)
        #expect(authority.due.isEmpty)
        for step in 20...40 { table.turn(now: Self.start + Int64(step) * 50) }
        #expect(authority.due.count == 1 && holder.ends.isEmpty)
        #expect(turn(table, until: Self.start + 6_000, holder) != nil && holder.ends == [.tokenExpired])
    }

    @Test("A clock that jumps, either way, neither loses nor hastens an end")
    func clock() {
        let table = LeaseTable(now: Self.start)
        let holder = Holder()
        let due = Self.start + 200_000
        _ = table.insert(terms(expiresAt: due), holder: holder)
        table.turn(now: Self.start + 150_000)
        table.turn(now: Self.start - 500_000)
        table.turn(now: Self.start)
        #expect(holder.ends.isEmpty)
        var now = Self.start
        while now < due + 100 {
            now += 50
            table.turn(now: now)
        }
        #expect(holder.ends == [.tokenExpired])
    }

    @Test(
        "Behind a clock that jumped ahead, an end is still told within a tenth of a second",
        arguments: [60_000, 290_000, 290_050, 299_900, 3_000_000] as [Int64])
    func jump(ahead: Int64) throws {
        let table = LeaseTable(now: Self.start)
        let holder = Holder()
        let due = Self.start + ahead + 10_000
        _ = table.insert(terms(expiresAt: due), holder: holder)
        table.turn(now: Self.start + ahead)
        #expect(holder.ends.isEmpty)
        for step in 1...203 { table.turn(now: Self.start + ahead + Int64(step) * 50) }
        #expect(holder.ends == [.tokenExpired])
    }
}
