import Foundation
import Synchronization
import Testing

/// Runs each test of a suite on threads of its own, so that a test may block on a socket or a process while the
/// gateways in this process go on. A few run at once, and each for a bounded time.
struct BlockingTests: SuiteTrait, TestTrait, TestScoping {
    private static let turns = TestTurns()
    @TaskLocal private static var hasTurn = false
    fileprivate let limit: Duration
    fileprivate let kind: TestKind

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Suite and test may both have the trait: the first takes the turn for both.
        guard !Self.hasTurn else { return try await function() }
        let traits = [self] + test.traits.compactMap { $0 as? Self }
        let limit = traits.map(\.limit).max() ?? self.limit
        let kind = traits.map(\.kind).min() ?? self.kind
        await Self.turns.begin(kind)
        defer { Self.turns.end(kind) }
        let watchdog = Watchdog(test.name, limit: limit)
        defer { watchdog.stop() }
        let began = ContinuousClock.now
        defer { TestOutputs.note(test, took: began.duration(to: .now)) }
        try await Self.$hasTurn.withValue(true) {
            try await withTaskExecutorPreference(ThreadPerJob()) { try await function() }
        }
    }
}

extension Trait where Self == BlockingTests {
    /// For suites whose tests block: on sockets, processes, scripts.
    static var blocking: Self { blocking(limit: .seconds(300)) }

    /// - Parameter limit: a test that has not ended by then hangs, which ends the whole run.
    static func blocking(limit: Duration) -> Self { BlockingTests(limit: limit, kind: .blocking) }

    /// For suites and tests that take much of the machine at times, and measure nothing: at most three others run at
    /// the same time.
    ///
    /// - Parameter reason: what takes much.
    static func heavy(_ reason: Comment, limit: Duration = .seconds(600)) -> Self {
        BlockingTests(limit: limit, kind: .heavy)
    }

    /// For suites and tests that mostly wait and then measure: at most two others run at the same time.
    ///
    /// - Parameter reason: what more of them would disturb.
    static func quiet(_ reason: Comment, limit: Duration = .seconds(600)) -> Self {
        BlockingTests(limit: limit, kind: .quiet)
    }

    /// For suites and tests that need the whole machine: no other test of this kind runs at the same time.
    ///
    /// - Parameter reason: what others would disturb, or what would disturb others.
    static func alone(_ reason: Comment, limit: Duration = .seconds(600)) -> Self {
        BlockingTests(limit: limit, kind: .alone)
    }
}

/// How many tests may run at once where one of a kind is among them.
private enum TestKind: Int, CaseIterable, Comparable {
    case alone = 1
    case quiet = 3
    case heavy = 4
    /// They mostly wait, so more run at once than there are cores; and not so many that what one waits for, of a
    /// gateway, a browser or another program, has to wait for all the others.
    case blocking = 8

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Each job, which is what a task does between two awaits, gets a new thread.
private final class ThreadPerJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread.detachNewThread { job.runSynchronously(on: executor) }
    }
}

/// Whose turn it is. Tests of the kind of which most may run at once come first and those that are to be alone last;
/// within a kind, they begin in the order in which they came.
private final class TestTurns: Sendable {
    private struct State {
        var running: [TestKind] = []
        var waiting: [TestKind: [CheckedContinuation<Void, Never>]] = [:]

        /// The next that may begin beside those that run; nil if none waits, or has to wait.
        mutating func next() -> CheckedContinuation<Void, Never>? {
            let kinds = TestKind.allCases.sorted(by: >)
            guard let kind = kinds.first(where: { waiting[$0]?.isEmpty == false }),
                running.count < min(kind, running.min() ?? kind).rawValue
            else { return nil }
            running.append(kind)
            return waiting[kind]?.removeFirst()
        }
    }

    private let state = Mutex(State())

    func begin(_ kind: TestKind) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting[kind, default: []].append(continuation) }
            startNext()
        }
    }

    func end(_ kind: TestKind) {
        state.withLock { state in
            if let index = state.running.firstIndex(of: kind) { state.running.remove(at: index) }
        }
        startNext()
    }

    private func startNext() {
        while let next = state.withLock({ $0.next() }) { next.resume() }
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
