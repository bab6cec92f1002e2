import JOSE
import Testing

@testable import SecurityGuard

@Suite("Key schedule")
struct KeyScheduleTests {
    let t0: Int64 = 1_800_000_000_000
    let reach: Int64 = 990_000

    func entry(_ id: String, published: Int64 = 0, firstUse: Int64? = nil, retired: Int64? = nil) -> KeyEntry {
        KeyEntry(
            keyID: id, file: "\(id).pem", algorithm: .es256, publishedAt: published, firstUseAt: firstUse,
            retiredAt: retired)
    }

    func states(_ schedule: KeySchedule, at now: Int64) -> [KeyState] { schedule.plan(at: now).keys.map(\.state) }

    @Test("The first key signs at once, a later one stands by")
    func firstKeySigns() {
        var schedule = KeySchedule(entries: [], tokenReach: reach)
        schedule.add(entry("a"), now: t0)
        schedule.add(entry("b"), now: t0 + 1)
        #expect(states(schedule, at: t0 + 1) == [.active, .next])
        #expect(states(schedule, at: t0 + 1_000_000_000) == [.active, .next])
        #expect(schedule.plan(at: t0 + 1).changesAt == nil)
    }

    @Test("A rotation publishes the key for the JWKS cache's lifetime before it signs, and keeps the old one after")
    func rotationOverlaps() {
        var schedule = KeySchedule(entries: [], tokenReach: reach)
        schedule.add(entry("a"), now: t0)
        let rotatedAt = t0 + 5000
        schedule.add(entry("b"), now: rotatedAt)
        schedule.promote(keyID: "b", now: rotatedAt, immediately: false)
        let firstUse = rotatedAt + KeySchedule.lead
        #expect(KeySchedule.lead >= 300_000)
        #expect(schedule.plan(at: rotatedAt).changesAt == firstUse)
        #expect(states(schedule, at: rotatedAt) == [.active, .next])
        #expect(states(schedule, at: firstUse - 1) == [.active, .next])
        #expect(states(schedule, at: firstUse) == [.retiring, .active])
        #expect(schedule.plan(at: firstUse).changesAt == firstUse + reach)
        #expect(states(schedule, at: firstUse + reach - 1) == [.retiring, .active])
        #expect(states(schedule, at: firstUse + reach) == [.retired, .active])
    }

    @Test("A stand-by that has been published long enough signs at once when it is promoted")
    func standByNeedsNoWait() {
        var schedule = KeySchedule(entries: [], tokenReach: reach)
        schedule.add(entry("a"), now: t0)
        schedule.add(entry("b"), now: t0)
        let later = t0 + KeySchedule.lead
        #expect(schedule.standBy(algorithm: nil, at: later)?.keyID == "b")
        #expect(schedule.standBy(algorithm: .ed25519, at: later) == nil)
        schedule.promote(keyID: "b", now: later, immediately: false)
        #expect(states(schedule, at: later) == [.retiring, .active])
    }

    @Test("A key promoted within the first millisecond of the one that signs still takes over")
    func promotionInTheSameMoment() {
        for (old, new) in [("a", "b"), ("b", "a")] {
            var schedule = KeySchedule(entries: [], tokenReach: reach)
            schedule.add(entry(old), now: t0)
            schedule.add(entry(new), now: t0)
            schedule.promote(keyID: new, now: t0, immediately: true)
            #expect(schedule.plan(at: t0 + 1).active?.keyID == new)
        }
    }

    @Test("A key that is retired is neither published nor believed, and revives nothing that it replaced")
    func retiredSuccessorStillCounts() {
        var schedule = KeySchedule(
            entries: [entry("a", firstUse: t0), entry("b", firstUse: t0 + 10)], tokenReach: reach)
        let late = t0 + 10 + reach
        schedule.retire(keyID: "b", now: late)
        schedule.add(entry("c"), now: late)
        #expect(states(schedule, at: late) == [.retired, .retired, .active])
    }

    @Test("A next key that was retired before its first use leaves the old one in office")
    func retiredNextNeverCounts() {
        var schedule = KeySchedule(
            entries: [entry("a", firstUse: t0), entry("b", firstUse: t0 + 1000)], tokenReach: reach)
        schedule.retire(keyID: "b", now: t0 + 10)
        #expect(states(schedule, at: t0 + 2000) == [.active, .retired])
    }

    @Test("Two keys that start together leave exactly one that signs, the same on every node")
    func tieHasOneWinner() {
        let a = entry("a", firstUse: t0)
        let b = entry("b", firstUse: t0)
        let one = KeySchedule(entries: [a, b], tokenReach: reach).plan(at: t0)
        let other = KeySchedule(entries: [b, a], tokenReach: reach).plan(at: t0)
        #expect(one.active == b)
        #expect(other.active == b)
        #expect(one.keys.count { $0.state == .active } == 1)
    }
}
