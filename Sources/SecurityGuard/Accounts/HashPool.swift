import Dispatch
import Synchronization

/// Runs password hashing on a few threads of its own, so that neither the event loops nor memory suffer from a burst.
///
/// At most `threads` jobs run, at most `queue` wait; whoever comes then is told at once that there is no room.
final class HashPool: Sendable {
    private struct Jobs {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
        /// Where the oldest waiting job is; what lies before it has been taken.
        var head = 0
    }

    private let threads: Int
    private let queue: Int
    private let jobs = Mutex(Jobs())
    private let workers = DispatchQueue(label: "gatehouse.password-hashing", qos: .utility, attributes: .concurrent)

    init(threads: Int, queue: Int) {
        self.threads = max(1, threads)
        self.queue = max(0, queue)
    }

    /// One core stays free for those who are logged in already.
    static let defaultThreads = max(1, ProcessorCount.value - 1)

    /// Runs `work` on a thread of the pool. Throws `overloaded` without having started it when there is no room.
    func run<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let accepted = submit { continuation.resume(with: Result { try work() }) }
            if !accepted { continuation.resume(throwing: AuthError(.overloaded, "too many logins at once")) }
        }
    }

    private func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        enum Place { case runs, waits, refused }
        let place = jobs.withLock { jobs -> Place in
            if jobs.running < threads {
                jobs.running += 1
                return .runs
            }
            guard jobs.waiting.count - jobs.head < queue else { return .refused }
            jobs.waiting.append(job)
            return .waits
        }
        if place == .runs { start(job) }
        return place != .refused
    }

    private func start(_ job: @escaping @Sendable () -> Void) {
        workers.async { [self] in
            job()
            if let next = takeNext() { start(next) }
        }
    }

    private func takeNext() -> (@Sendable () -> Void)? {
        jobs.withLock { jobs in
            guard jobs.head < jobs.waiting.count else {
                jobs.running -= 1
                return nil
            }
            let job = jobs.waiting[jobs.head]
            jobs.head += 1
            if jobs.head == jobs.waiting.count {
                jobs.waiting.removeAll(keepingCapacity: true)
                jobs.head = 0
            }
            return job
        }
    }
}
