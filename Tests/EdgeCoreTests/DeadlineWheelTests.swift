import NIOCore
import Testing

@testable import EdgeCore

@Suite struct DeadlineWheelTests {
    private final class Sleeper: DeadlineHolder {
        private(set) var woken = 0
        func deadlinePassed() { woken += 1 }
    }

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let wheel = DeadlineWheel(now: Self.start)
    private let sleeper = Sleeper()

    private func turn(_ milliseconds: Int64) { wheel.turn(now: Self.start + .milliseconds(milliseconds)) }

    /// Turns as a loop does: every 50 ms.
    private func run(from first: Int64 = 0, until last: Int64) {
        for now in stride(from: first, through: last, by: 50) { turn(now) }
    }

    @Test(
        "A deadline passes once, never early and at most a tenth of a second late",
        arguments: [1, 49, 50, 500, 1_000, 60_000, 102_350, 102_400, 102_450, 600_000] as [Int64])
    func passes(delay: Int64) {
        let deadline = ConnectionDeadline(wheel)
        deadline.arm(after: .milliseconds(delay), for: sleeper)
        run(until: delay)
        #expect(sleeper.woken == 0)
        run(from: delay, until: delay + 150)
        #expect(sleeper.woken == 1)
        run(from: delay, until: delay + 200_000)
        #expect(sleeper.woken == 1)
    }

    @Test(
        "A deadline beyond the wheel's horizon is not lost when the loop stalls",
        arguments: [102_000, 102_200, 102_300])
    func stall(begin: Int64) {
        let deadline = ConnectionDeadline(wheel)
        deadline.arm(after: .milliseconds(600_000), for: sleeper)
        run(until: begin)
        run(from: begin + 350, until: 600_150)
        #expect(sleeper.woken == 1)
    }

    @Test(
        "A deadline that is moved passes at its last place alone",
        arguments: [(100, 5_000), (5_000, 100)] as [(Int64, Int64)])
    func moves(first: Int64, second: Int64) {
        let deadline = ConnectionDeadline(wheel)
        deadline.arm(after: .milliseconds(first), for: sleeper)
        deadline.arm(after: .milliseconds(second))
        run(until: second)
        #expect(sleeper.woken == 0)
        run(from: second, until: 10_000)
        #expect(sleeper.woken == 1)
    }

    @Test("A deadline that may only come sooner is not put off")
    func onlySooner() {
        let deadline = ConnectionDeadline(wheel)
        deadline.arm(after: .milliseconds(1_000), for: sleeper)
        turn(500)
        deadline.armIfEarlier(after: .milliseconds(1_000))
        run(from: 500, until: 1_150)
        #expect(sleeper.woken == 1)
    }

    @Test("A cancelled deadline does not pass, and can be armed again")
    func cancelled() {
        let deadline = ConnectionDeadline(wheel)
        deadline.arm(after: .milliseconds(200), for: sleeper)
        deadline.cancel()
        run(until: 1_000)
        #expect(sleeper.woken == 0)
        deadline.arm(after: .milliseconds(200), for: sleeper)
        run(from: 1_000, until: 1_400)
        #expect(sleeper.woken == 1)
    }

    @Test(
        "No deadline is lost when the loop was held up for long, whatever the delay",
        arguments: [100, 50_000, 150_000] as [Int64])
    func heldUp(delay: Int64) {
        let deadline = ConnectionDeadline(wheel)
        deadline.arm(after: .milliseconds(delay), for: sleeper)
        turn(400_000)
        run(from: 400_000, until: 510_000)
        #expect(sleeper.woken == 1)
    }

    @Test("A holder is let go when its deadline is cancelled, and one that armed itself again is told again")
    func rearms() {
        final class Again: DeadlineHolder {
            var deadline: ConnectionDeadline?
            private(set) var count = 0
            func deadlinePassed() {
                count += 1
                if count < 3 { deadline?.arm(after: .milliseconds(300)) } else { deadline?.cancel() }
            }
        }
        weak var gone: Again?
        do {
            let again = Again()
            let deadline = ConnectionDeadline(wheel)
            again.deadline = deadline
            deadline.arm(after: .milliseconds(300), for: again)
            run(until: 2_000)
            #expect(again.count == 3)
            again.deadline = nil
            gone = again
        }
        run(from: 2_000, until: 2_100)
        #expect(gone == nil)
    }
}
