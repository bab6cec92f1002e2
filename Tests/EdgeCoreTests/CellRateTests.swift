import RandomForTests
import Testing

@testable import EdgeCore

@Suite("A limit by the generic cell rate algorithm") struct CellRateTests {
    private static let second: Int64 = 1_000_000_000
    private static let epoch: Int64 = 1_800_000_000 * second

    private static func passed(_ rate: CellRate, at times: [Int64]) -> [Bool] {
        var full: Int64?
        return times.map { time in
            let verdict = rate.take(fullAt: full, at: epoch + time)
            full = verdict.fullAt
            return verdict.isAllowed
        }
    }

    @Test("As many at once as the burst, then one whenever the period has room for it")
    func burst() {
        let rate = CellRate(requests: 60, period: 60_000, burst: 3)
        #expect(Self.passed(rate, at: [0, 0, 0, 0]) == [true, true, true, false])
        #expect(
            Self.passed(rate, at: [0, 0, 0, Self.second - 1, Self.second, Self.second])
                == [true, true, true, false, true, false])
        #expect(Self.passed(rate, at: [0, 0, 0, 10 * Self.second, 10 * Self.second]).allSatisfy { $0 })
    }

    @Test("The answer says how many are left and when to come back")
    func fields() {
        let rate = CellRate(requests: 2, period: 10_000, burst: 2)
        let first = rate.take(fullAt: nil, at: Self.epoch)
        let second = rate.take(fullAt: first.fullAt, at: Self.epoch)
        let third = rate.take(fullAt: second.fullAt, at: Self.epoch + 1)
        #expect(first.remaining == 1 && first.seconds == 5)
        #expect(second.remaining == 0 && second.seconds == 10)
        #expect(!third.isAllowed && third.remaining == 0 && third.seconds == 5)
        #expect(rate.take(fullAt: third.fullAt, at: Self.epoch + 5 * Self.second).isAllowed)
    }

    @Test("A clock that was set back makes no caller wait for longer than an empty bucket does")
    func clockSetBack() {
        let rate = CellRate(requests: 1, period: 1_000, burst: 1)
        let full = rate.take(fullAt: nil, at: Self.epoch + 3_600 * Self.second).fullAt
        let verdict = rate.take(fullAt: full, at: Self.epoch)
        #expect(!verdict.isAllowed && verdict.seconds == 1)
        #expect(rate.take(fullAt: verdict.fullAt, at: Self.epoch + Self.second).isAllowed)
    }

    @Test("Over any time no more pass than burst and rate allow, whatever the times of arrival")
    func neverMore() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let (requests, burst) = (Int.random(in: 1...20, using: &random), Int.random(in: 1...20, using: &random))
            let rate = CellRate(requests: requests, period: 1_000, burst: burst)
            var times: [Int64] = []
            var time: Int64 = 0
            for _ in 0..<300 {
                times.append(time)
                time += Int64.random(in: 0...200_000_000, using: &random)
            }
            let count = Self.passed(rate, at: times).count { $0 }
            let most = Double(burst) + Double(requests) * Double(times.last ?? 0) / Double(Self.second)
            #expect(Double(count) <= most + 1, "seed \(seed)")
        }
    }

    @Test(
        "The largest and the smallest numbers of the configuration don't overflow",
        arguments: [(1, 86_400_000, 1_000_000), (1_000_000, 100, 1), (1_000_000, 100, 1_000_000), (1, 86_400_000, 1)])
    func extremes(_ requests: Int, _ period: Int64, _ burst: Int) {
        let rate = CellRate(requests: requests, period: period, burst: burst)
        let first = rate.take(fullAt: nil, at: Self.epoch)
        #expect(first.isAllowed && rate.take(fullAt: .max / 2, at: Self.epoch).remaining == 0)
        #expect(rate.take(fullAt: .min, at: Self.epoch).isAllowed)
    }
}
