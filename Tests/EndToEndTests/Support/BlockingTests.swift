import Foundation
import Synchronization
import Testing

/// Runs each test of a suite on threads of its own, so that a test may block on a socket or a process while the gateways
/// in this process go on. A few run at once, and each for a bounded time.
struct BlockingTests: SuiteTrait, TestTrait, TestScoping {
    /// They mostly wait, so more run at once than there are cores; and not so many that what one waits for, of a gateway,
    /// a browser or another program, has to wait for all the others.
    private static let turns = TestTurns(atOnce: 5)
    @TaskLocal private static var hasTurn = false
    fileprivate let limit: Duration
    fileprivate let isAlone: Bool

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Suite and test may both have the trait: the first takes the turn for both.
        guard !Self.hasTurn else { return try await function() }
        let traits = [self] + test.traits.compactMap { $0 as? Self }
        let limit = traits.map(\.limit).max() ?? self.limit
        await Self.turns.begin(alone: traits.contains(where: \.isAlone))
        defer { Self.turns.end() }
        let watchdog = Watchdog(test.name, limit: limit)
        defer { watchdog.stop() }
        try await Self.$hasTurn.withValue(true) {
            try await withTaskExecutorPreference(ThreadPerJob()) { try await function() }
        }
    }
}

extension Trait where Self == BlockingTests {
    /// For suites whose tests block: on sockets, processes, scripts.
    static var blocking: Self { blocking(limit: .seconds(300)) }

    /// - Parameter limit: a test that has not ended by then hangs, which ends the whole run.
    static func blocking(limit: Duration) -> Self { BlockingTests(limit: limit, isAlone: false) }

    /// For suites and tests that measure, or need the whole machine: no other test of this kind runs at the same time.
    ///
    /// - Parameter reason: what others would disturb, or what would disturb others.
    static func alone(_ reason: Comment, limit: Duration = .seconds(600)) -> Self {
        BlockingTests(limit: limit, isAlone: true)
    }
}

/// Each job, which is what a task does between two awaits, gets a new thread.
private final class ThreadPerJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread.detachNewThread { job.runSynchronously(on: executor) }
    }
}

/// Whose turn it is: a few tests at once in the order in which they came, and one at a time of those that are to be alone
/// once no other waits.
private final class TestTurns: Sendable {
    private struct State {
        var running = 0
        var isAlone = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var waitingAlone: [CheckedContinuation<Void, Never>] = []
    }

    private let atOnce: Int
    private let state = Mutex(State())

    init(atOnce: Int) { self.atOnce = atOnce }

    func begin(alone: Bool) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if alone { state.waitingAlone.append(continuation) } else { state.waiting.append(continuation) }
            }
            startNext()
        }
    }

    func end() {
        state.withLock { state in
            state.running -= 1
            state.isAlone = false
        }
        startNext()
    }

    private func startNext() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isAlone, state.running < atOnce else { return nil }
            if !state.waiting.isEmpty {
                state.running += 1
                return state.waiting.removeFirst()
            }
            guard state.running == 0, !state.waitingAlone.isEmpty else { return nil }
            state.running = 1
            state.isAlone = true
            return state.waitingAlone.removeFirst()
        }
        next?.resume()
    }
}

/// Ends the process when a test does not come to its end: nothing can interrupt a thread that is blocked.
private final class Watchdog: Sendable {
    private let hasEnded = Atomic(false)

    init(_ name: String, limit: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) { [self] in
            guard !hasEnded.load(ordering: .acquiring) else { return }
            FileHandle.standardError.write(Data("\(name) has not ended within \(limit): it hangs\n".utf8))
            exit(70)
        }
    }

    func stop() { hasEnded.store(true, ordering: .releasing) }
}
