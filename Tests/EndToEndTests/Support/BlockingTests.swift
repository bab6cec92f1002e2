import Foundation
import Synchronization
import Testing

/// Runs each test of a suite on threads of its own, so that a test may block on a socket or a process while gateways in
/// the same process go on; a few at a time, and each for a bounded time.
struct BlockingTests: SuiteTrait, TestTrait, TestScoping {
    /// How many run at once: they mostly wait, so more than there are cores.
    private static let slots = Slots(8)
    private let limit: Duration

    fileprivate init(limit: Duration) { self.limit = limit }

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.slots.take()
        defer { Self.slots.give() }
        let watch = Watchdog(test.name, limit: limit)
        defer { watch.stop() }
        try await withTaskExecutorPreference(ThreadPerJob()) { try await function() }
    }
}

extension Trait where Self == BlockingTests {
    /// For suites whose tests block: on sockets, processes, scripts.
    static var blocking: Self { blocking(limit: .seconds(60)) }

    /// - Parameter limit: after that a test that has not ended is a hang, which ends the whole run.
    static func blocking(limit: Duration) -> Self { BlockingTests(limit: limit) }
}

/// Each job, which is what a task does between two awaits, gets a new thread.
private final class ThreadPerJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread.detachNewThread { job.runSynchronously(on: executor) }
    }
}

/// Lets a few in at once, the others in the order in which they came.
private final class Slots: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state -> Bool in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
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
