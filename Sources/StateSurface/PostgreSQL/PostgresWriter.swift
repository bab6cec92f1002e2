import Synchronization

/// Group commit: writes that arrive while all connections are busy are collected, and run in one transaction when one
/// becomes free.
///
/// A write that fails does not affect the others. Success is reported only after the commit. Under load this saves
/// commits and round trips; without load every write has a transaction of its own.
final class PostgresWriter: Sendable {
    private struct Queue {
        /// In the order of their deadlines, because all wait equally long.
        var waiting: [PostgresWrite] = []
        /// Writes that conflicted with others. One of them runs at a time, so they do not conflict among themselves.
        var collided: [PostgresWrite] = []
        var isRunningCollided = false
        var idle: [PostgresWorker]
        var isSweeping = false
        var isClosed = false
    }

    private static let waitingLimit = 4096
    private static let patience = Duration.seconds(5)
    /// The largest number of writes in one commit.
    static let group = 64
    /// How often a write is tried that conflicts with others.
    private static let attempts = 5

    private let origin: String
    private let observers: Observers
    private let wake: @Sendable () -> Void
    private let commitUnknown: @Sendable () -> Void
    private let workers: [PostgresWorker]
    private let queue: Mutex<Queue>

    /// - Parameters:
    ///   - size: the largest number of transactions at a time.
    ///   - wake: called after a commit that other nodes have to hear of.
    ///   - commitUnknown: called after a commit of which it is not known whether it was or will be done.
    init(
        _ settings: PostgresSettings, gate: ConnectGate, size: Int, origin: String, observers: Observers,
        wake: @escaping @Sendable () -> Void, commitUnknown: @escaping @Sendable () -> Void
    ) {
        self.origin = origin
        self.observers = observers
        self.wake = wake
        self.commitUnknown = commitUnknown
        workers = (0..<size).map { _ in PostgresWorker(settings, gate: gate) }
        queue = Mutex(Queue(idle: workers))
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            add(
                PostgresWrite(
                    run: { transaction in
                        let value = try body(transaction)
                        return { continuation.resume(returning: value) }
                    },
                    fail: { continuation.resume(throwing: $0) }, deadline: .now + Self.patience))
        }
    }

    /// Fails what is waiting, and closes the connections when their transactions have ended.
    func close() async {
        let waiting = queue.withLock { queue in
            queue.isClosed = true
            defer { (queue.waiting, queue.collided) = ([], []) }
            return queue.waiting + queue.collided
        }
        for write in waiting { write.fail(Self.closed) }
        for worker in workers { await worker.disconnect() }
    }

    private enum Added {
        case waits
        case starts(PostgresWorker)
        case refused(StateSurfaceError)
    }

    private func add(_ write: PostgresWrite) {
        let added: Added = queue.withLock { queue in
            if queue.isClosed { return .refused(Self.closed) }
            guard queue.waiting.count < Self.waitingLimit else { return .refused(Self.busy) }
            queue.waiting.append(write)
            if let worker = queue.idle.popLast() { return .starts(worker) }
            if !queue.isSweeping {
                queue.isSweeping = true
                Task { [weak self] in await self?.sweep() }
            }
            return .waits
        }
        switch added {
        case .waits: break
        case .starts(let worker): Task { await drain(worker) }
        case .refused(let error): write.fail(error)
        }
    }

    private enum Work {
        case batch([PostgresWrite])
        case collided(PostgresWrite)
    }

    private func drain(_ worker: PostgresWorker) async {
        while let work = next(for: worker) {
            switch work {
            case .batch(let batch): await commit(batch, on: worker)
            case .collided(let write):
                await commitAlone(write, on: worker)
                queue.withLock { $0.isRunningCollided = false }
            }
        }
    }

    /// What the worker does next; nil, and the worker is idle, if there is nothing.
    private func next(for worker: PostgresWorker) -> Work? {
        queue.withLock { queue in
            if !queue.isRunningCollided, !queue.collided.isEmpty {
                queue.isRunningCollided = true
                return .collided(queue.collided.removeFirst())
            }
            guard !queue.waiting.isEmpty else {
                queue.idle.append(worker)
                return nil
            }
            // What waits is shared among the workers, so that several transactions are in flight.
            let share = (queue.waiting.count + workers.count - 1) / workers.count
            let batch = Array(queue.waiting.prefix(min(share, Self.group)))
            queue.waiting.removeFirst(batch.count)
            return .batch(batch)
        }
    }

    /// Runs the batch without savepoints first. If that fails, it is run again with a savepoint for each write, which
    /// is slower and rarely needed. Writes that conflict with other transactions run again by themselves.
    private func commit(_ batch: [PostgresWrite], on worker: PostgresWorker) async {
        do {
            try finish(await worker.group(batch, origin: origin, savepoints: false))
        } catch let failure as PostgresGroupFailure where batch.count == 1 {
            failure.isCollision ? runAlone(batch) : fail(batch, failure.cause)
        } catch is PostgresGroupFailure {
            do {
                let group = try await worker.group(batch, origin: origin, savepoints: true)
                finish(group)
                runAlone(group.collided)
            } catch let failure as PostgresGroupFailure {
                failure.isCollision ? runAlone(batch) : fail(batch, failure.cause)
            } catch {
                fail(batch, error)
            }
        } catch {
            fail(batch, error)
        }
    }

    /// The worker that calls this takes the next one as soon as none is running.
    private func runAlone(_ writes: [PostgresWrite]) {
        guard !writes.isEmpty else { return }
        let mustSweep = queue.withLock { queue in
            queue.collided += writes
            defer { queue.isSweeping = true }
            return !queue.isSweeping
        }
        if mustSweep { Task { [weak self] in await self?.sweep() } }
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
        observers.tell(group.changes)
        if !group.changesForOthers.isEmpty { wake() }
        for report in group.reports { report() }
        for (write, error) in group.failures { write.fail(Self.told(error)) }
    }

    private func fail(_ batch: [PostgresWrite], _ error: any Error) {
        if case PostgresFault.commitUnknown(let changes) = error {
            // The changes may have been committed, or may be later. Observers read the data again, so a report too many
            // does no harm.
            observers.tell(changes)
            commitUnknown()
        }
        for write in batch { write.fail(Self.told(error)) }
    }

    /// The error that the caller of a failed write gets.
    private static func told(_ error: any Error) -> any Error {
        error is any TransactionAbort ? error : StateSurfaceError(postgres: error)
    }

    /// Fails writes whose deadline has passed, as long as any is waiting.
    private func sweep() async {
        var isNeeded = true
        while isNeeded {
            try? await Task.sleep(for: .milliseconds(250))
            let late = queue.withLock { queue in
                let now = ContinuousClock.now
                let late = queue.waiting.prefix { $0.deadline <= now } + queue.collided.filter { $0.deadline <= now }
                queue.waiting.removeAll { $0.deadline <= now }
                queue.collided.removeAll { $0.deadline <= now }
                queue.isSweeping = !queue.waiting.isEmpty || !queue.collided.isEmpty
                isNeeded = queue.isSweeping
                return late
            }
            for write in late { write.fail(Self.busy) }
        }
    }

    private static let closed = StateSurfaceError(.unavailable, "the store has been closed")
    private static let busy = StateSurfaceError(.unavailable, "no connection to PostgreSQL became free in time")
}
