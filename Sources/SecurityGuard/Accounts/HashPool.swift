import Dispatch
import Synchronization

/// Runs password hashing on its own threads, so that a burst of logins neither blocks event loops nor exhausts memory.
///
/// At most `threads` jobs run and at most `queue` wait. Further jobs are refused at once.
final class HashPool: Sendable {
    private struct Jobs {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
        /// The index of the oldest waiting job; those before it have been taken.
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

    /// One core is left free for other requests.
    static let defaultThreads = max(1, ProcessorCount.value - 1)

    /// Runs `work` on a thread of the pool. Throws `overloaded` without starting it if the queue is full.
    func run<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let accepted = submit { continuation.resume(with: Result { try work() }) }
            if !accepted { continuation.resume(throwing: AuthError(.overloaded, "too many logins at once")) }
        }
    }

    /// How many jobs wait for a thread.
    var waitingCount: Int { jobs.withLock { $0.waiting.count - $0.head } }

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
