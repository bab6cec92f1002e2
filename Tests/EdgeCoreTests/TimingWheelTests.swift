import RandomForTests
import Testing

@testable import EdgeCore

@Suite struct TimingWheelTests {
    private static let start: Int64 = 1_000_000

    /// Turns as a loop does, every 50 ms, and puts back what came out before its time. Returns when each came out.
    private func run(
        _ wheel: inout TimingWheel<Int>, dues: [Int64], from first: Int64, until last: Int64
    ) -> [Int: Int64] {
        var out: [Int: Int64] = [:]
        for now in stride(from: first, through: last, by: 50) {
            wheel.turn(to: now)
            while let items = wheel.takeDue() {
                for item in items {
                    if dues[item] > now { wheel.insert(item, due: dues[item]) } else { out[item] = now }
                }
            }
        }
        return out
    }

    @Test("Within the horizon nothing comes out before its time, so that nothing has to be put in twice")
    func once() {
        var wheel = TimingWheel<Int64>(unitsPerMillisecond: 1, now: Self.start)
        for due in stride(from: Self.start, to: Self.start + 100_000, by: 7) { wheel.insert(due, due: due) }
        var early: [Int64] = []
        for now in stride(from: Self.start, through: Self.start + 100_100, by: 50) {
            wheel.turn(to: now)
            while let items = wheel.takeDue() { early += items.filter { $0 > now } }
        }
        #expect(early.isEmpty)
    }

    @Test("Everything comes out once, never before its time and at most two slots after, behind the horizon too")
    func punctual() {
        var random = SeededGenerator(seed: 7)
        var wheel = TimingWheel<Int>(unitsPerMillisecond: 1, now: Self.start)
        let dues = (0..<5_000).map { _ in Self.start + Int64.random(in: 0...300_000, using: &random) }
        for (item, due) in dues.enumerated() { wheel.insert(item, due: due) }
        let out = run(&wheel, dues: dues, from: Self.start, until: Self.start + 300_200)
        #expect(out.count == dues.count)
        let late = out.map { $0.value - dues[$0.key] }
        #expect(late.allSatisfy { (0...100).contains($0) }, "\(late.max() ?? 0) ms")
    }

    @Test("A wheel that was not turned for long gives everything at once", arguments: [60_000, 200_000] as [Int64])
    func heldUp(pause: Int64) {
        var wheel = TimingWheel<Int>(unitsPerMillisecond: 1, now: Self.start)
        let dues = [0, 100, 59_000].map { Self.start + $0 }
        for (item, due) in dues.enumerated() { wheel.insert(item, due: due) }
        let out = run(&wheel, dues: dues, from: Self.start + pause, until: Self.start + pause)
        #expect(out.count == 3)
    }

    @Test("A clock that is set back takes the wheel with it; a little backwards is waited for")
    func backwards() {
        var wheel = TimingWheel<Int>(unitsPerMillisecond: 1, now: Self.start)
        wheel.turn(to: Self.start - 500)
        #expect(wheel.hand == Self.start / 50)
        wheel.turn(to: Self.start - 100_000)
        #expect(wheel.hand == (Self.start - 100_000) / 50)
        let dues = [Self.start - 99_000]
        wheel.insert(0, due: dues[0])
        let out = run(&wheel, dues: dues, from: Self.start - 100_000, until: Self.start - 98_000)
        #expect(out[0].map { (0...100).contains($0 - dues[0]) } == true)
    }

    @Test("Extreme times find a slot", arguments: [Int64.min, -1, 0, .max])
    func extremes(due: Int64) {
        var wheel = TimingWheel<Int>(unitsPerMillisecond: 1, now: Self.start)
        wheel.insert(1, due: due)
        wheel.turn(to: Self.start + 200_000)
        #expect(wheel.takeDue() == [1] && wheel.takeDue() == nil)
    }
}
