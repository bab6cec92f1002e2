import Dispatch
import Synchronization
import Testing

@testable import SecurityGuard

@Suite("Hashing pool")
struct HashPoolTests {
    @Test("No more than its threads run at once, the queue waits, and the rest is told at once")
    func bounded() async throws {
        let pool = HashPool(threads: 2, queue: 3)
        let gate = DispatchSemaphore(value: 0)
        let running = Running()
        let outcomes = await withTaskGroup(of: AuthError.Code?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        try await pool.run {
                            running.enter()
                            gate.wait()
                            running.leave()
                        }
                        return nil
                    } catch { return (error as? AuthError)?.code }
                }
            }
            // Three are refused at once; only then, and when both threads are at work, are the others let go.
            var outcomes: [AuthError.Code?] = []
            for await outcome in group {
                outcomes.append(outcome)
                guard outcomes.count == 3 else { continue }
                while running.most < 2 { await Task.yield() }
                for _ in 0..<5 { gate.signal() }
            }
            return outcomes
        }
        #expect(outcomes.count { $0 == .overloaded } == 3)
        #expect(outcomes.count { $0 == nil } == 5)
        #expect(running.most == 2)
        // And there is room again.
        #expect(try await pool.run { 7 } == 7)
    }

    @Test("A failure inside reaches the caller")
    func failure() async {
        await #expect(throws: AuthError(.conflict)) {
            try await HashPool(threads: 1, queue: 0).run { throw AuthError(.conflict) }
        }
    }
}

private final class Running: Sendable {
    private let count = Mutex((now: 0, most: 0))

    func enter() { count.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { count.withLock { $0.now -= 1 } }
    var most: Int { count.withLock { $0.most } }
}
