/// A pool of workers, each used by one caller at a time. A caller that finds none free waits for a limited time.
final class PostgresPool: Sendable {
    private typealias Continuation = CheckedContinuation<PostgresWorker, any Error>

    /// The message for a caller that found no free connection in time, for a read here or for a write.
    static let busy = "no connection to PostgreSQL became free in time"

    private let limits: WaitLimits
    private let workers: [PostgresWorker]
    private let queue: WaitQueue<Continuation, PostgresWorker>

    init(_ gate: ConnectGate, size: Int, limits: WaitLimits = WaitLimits()) {
        self.limits = limits
        workers = (0..<size).map { _ in PostgresWorker(gate) }
        queue = WaitQueue(
            servers: workers, limit: limits.count, busy: Self.busy,
            refuse: { $0.resume(throwing: $1) })
    }

    func withWorker<Value: Sendable>(
        _ body: (PostgresWorker) async throws -> Value
    ) async throws -> Value {
        let worker = try await withCheckedThrowingContinuation { (continuation: Continuation) in
            if let idle = queue.add(continuation, until: .now + limits.patience) { passOn(idle) }
        }
        defer { passOn(worker) }
        return try await body(worker)
    }

    func close() async {
        queue.close()
        for worker in workers { await worker.disconnect() }
    }

    /// Gives a worker that is free to the caller who has waited longest.
    private func passOn(_ worker: PostgresWorker) {
        queue.next(for: worker).first?.resume(returning: worker)
    }
}
