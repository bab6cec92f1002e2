/// Group commit: writes that arrive while all connections are busy are collected, and run in one transaction when one
/// becomes free.
///
/// A write that fails does not affect the others. Success is reported only after the commit. Under load this saves
/// commits and round trips; without load every write has a transaction of its own.
final class PostgresWriter: Sendable {
    /// The right to run writes that conflicted with others. There is one, so they do not conflict among themselves.
    private struct Turn: Sendable {}

    /// The largest number of writes in one commit.
    static let group = 64
    /// A worker that becomes free takes this part of what waits: half of it. If each took its share of all workers, as
    /// many writes would wait as are in flight, each for a whole commit before its own. If it took everything, the
    /// statements of all would run one after the other on one connection.
    private static let shares = 2
    /// How often a write is tried that conflicts with others.
    private static let attempts = 5

    private let origin: String
    private let observers: Observers
    private let wake: @Sendable () -> Void
    private let commitUnknown: @Sendable () -> Void
    private let limits: WaitLimits
    private let workers: [PostgresWorker]
    private let queue: WaitQueue<PostgresWrite, PostgresWorker>
    private let collided: WaitQueue<PostgresWrite, Turn>

    /// - Parameters:
    ///   - size: the largest number of transactions at a time.
    ///   - wake: called after a commit that other nodes have to hear of.
    ///   - commitUnknown: called after a commit of which it is not known whether it was or will be done, before its
    ///     changes are reported.
    init(
        _ gate: ConnectGate, size: Int, limits: WaitLimits = WaitLimits(), origin: String, observers: Observers,
        wake: @escaping @Sendable () -> Void, commitUnknown: @escaping @Sendable () -> Void
    ) {
        self.origin = origin
        self.observers = observers
        self.wake = wake
        self.commitUnknown = commitUnknown
        self.limits = limits
        workers = (0..<size).map { _ in PostgresWorker(gate) }
        let busy = PostgresPool.busy
        queue = WaitQueue(servers: workers, limit: limits.count, busy: busy) { $0.fail($1) }
        collided = WaitQueue(servers: [Turn()], limit: limits.count, busy: busy) { $0.fail($1) }
    }

    /// - Parameter first: the SELECT that the body begins with, if that is known.
    func write<Value: Sendable>(
        reading first: SQLStatement? = nil, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let write = PostgresWrite(
                first: first,
                run: { transaction in
                    let value = try body(transaction)
                    return { continuation.resume(returning: value) }
                },
                fail: { continuation.resume(throwing: $0) }, deadline: .now + limits.patience)
            if let worker = queue.add(write, until: write.deadline) { Task { await drain(worker) } }
        }
    }

    /// Fails what is waiting, and closes the connections when their transactions have ended.
    func close() async {
        queue.close()
        collided.close()
        for worker in workers { await worker.disconnect() }
    }

    private func drain(_ worker: PostgresWorker) async {
        while true {
            let batch = queue.next(for: worker) { min(($0 + Self.shares - 1) / Self.shares, Self.group) }
            if batch.isEmpty { return }
            await commit(batch, on: worker)
        }
    }

    /// Runs the batch without savepoints first. If that fails, it is run again with a savepoint for each write, which
    /// is slower and rarely needed. Writes that conflict with other transactions run again by themselves.
    private func commit(_ batch: [PostgresWrite], on worker: PostgresWorker) async {
        do {
            try finish(await worker.group(batch, origin: origin, savepoints: false))
        } catch let failure as PostgresGroupFailure where batch.count == 1 {
            await failure.isCollision ? runAlone(batch, on: worker) : fail(batch, failure.cause)
        } catch is PostgresGroupFailure {
            do {
                let group = try await worker.group(batch, origin: origin, savepoints: true)
                finish(group)
                await runAlone(group.collided, on: worker)
            } catch let failure as PostgresGroupFailure {
                await failure.isCollision ? runAlone(batch, on: worker) : fail(batch, failure.cause)
            } catch {
                fail(batch, error)
            }
        } catch {
            fail(batch, error)
        }
    }

    /// Runs writes one at a time, with those of other workers. If another worker is already running such writes, it
    /// runs these, too.
    private func runAlone(_ writes: [PostgresWrite], on worker: PostgresWorker) async {
        var turn: Turn?
        for write in writes { turn = collided.add(write, until: write.deadline) ?? turn }
        guard let turn else { return }
        while let write = collided.next(for: turn).first { await commitAlone(write, on: worker) }
    }

    private func commitAlone(_ write: PostgresWrite, on worker: PostgresWorker) async {
        for attempt in 1...Self.attempts {
            do {
                return try finish(await worker.group([write], origin: origin, savepoints: false, isAlone: true))
            } catch let failure as PostgresGroupFailure {
                guard failure.isCollision, attempt < Self.attempts, .now < write.deadline else {
                    return fail([write], failure.cause)
                }
                try? await Task.sleep(for: .milliseconds(.random(in: 1...20)))
            } catch {
                return fail([write], error)
            }
        }
    }

    private func finish(_ group: PostgresGroup) {
        observers.notify(group.changes)
        if !group.changesForOthers.isEmpty { wake() }
        for report in group.reports { report() }
        for (write, error) in group.failures { write.fail(Self.reportable(error)) }
    }

    private func fail(_ batch: [PostgresWrite], _ error: any Error) {
        if case PostgresFault.commitUnknown(let changes) = error {
            // The changes may have been committed, or may be later. Observers read the data again, so a report too many
            // does no harm. What is committed after they have read it is found in the log.
            commitUnknown()
            observers.notify(changes)
        }
        for write in batch { write.fail(Self.reportable(error)) }
    }

    /// The error that the caller of a failed write gets.
    private static func reportable(_ error: any Error) -> any Error {
        error is any TransactionAbort ? error : StateSurfaceError(postgres: error)
    }
}
