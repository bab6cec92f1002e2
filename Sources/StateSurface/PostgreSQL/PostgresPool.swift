import Synchronization

/// Prevents all connections from dialling an unreachable server at the same time: after a failure, the others fail too.
final class ConnectGate: Sendable {
    private let lastFailure = Mutex<(at: ContinuousClock.Instant, fault: PostgresFault)?>(nil)

    func connect(_ settings: PostgresSettings) throws -> Connection {
        if let last = lastFailure.withLock({ $0 }), last.at.duration(to: .now) < .milliseconds(200) {
            throw last.fault
        }
        do {
            let connection = try settings.connect()
            lastFailure.withLock { $0 = nil }
            return connection
        } catch let fault as PostgresFault {
            lastFailure.withLock { $0 = (.now, fault) }
            throw fault
        }
    }
}

/// A pool of workers, each used by one caller at a time. A caller that finds none free waits for a limited time.
final class PostgresPool: Sendable {
    private typealias Continuation = CheckedContinuation<PostgresWorker, any Error>

    private struct State {
        var idle: [PostgresWorker]
        /// In the order of their deadlines, because all callers wait equally long.
        var waiting: [(deadline: ContinuousClock.Instant, continuation: Continuation)] = []
        var isSweeping = false
        var isClosed = false
    }

    private static let waitingLimit = 4096
    private static let patience = Duration.seconds(5)

    private let workers: [PostgresWorker]
    private let state: Mutex<State>

    init(_ settings: PostgresSettings, gate: ConnectGate, size: Int) {
        workers = (0..<size).map { _ in PostgresWorker(settings, gate: gate) }
        state = Mutex(State(idle: workers))
    }

    func withWorker<Value: Sendable>(
        _ body: (PostgresWorker) async throws -> Value
    ) async throws -> Value {
        let worker = try await take()
        defer { giveBack(worker) }
        return try await body(worker)
    }

    func close() async {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.continuation.resume(throwing: Self.closed) }
        for worker in workers { await worker.disconnect() }
    }

    private func take() async throws -> PostgresWorker {
        try await withCheckedThrowingContinuation { continuation in
            let outcome: Result<PostgresWorker, any Error>? = state.withLock { state in
                if state.isClosed { return .failure(Self.closed) }
                if let worker = state.idle.popLast() { return .success(worker) }
                guard state.waiting.count < Self.waitingLimit else { return .failure(Self.busy) }
                state.waiting.append((.now + Self.patience, continuation))
                if !state.isSweeping {
                    state.isSweeping = true
                    Task { [weak self] in await self?.sweep() }
                }
                return nil
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    private func giveBack(_ worker: PostgresWorker) {
        let next: Continuation? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            state.idle.append(worker)
            return nil
        }
        next?.resume(returning: worker)
    }

    /// Fails callers whose deadline has passed, as long as any caller is waiting.
    private func sweep() async {
        var isNeeded = true
        while isNeeded {
            try? await Task.sleep(for: .milliseconds(250))
            let late = state.withLock { state in
                let now = ContinuousClock.now
                let late = state.waiting.prefix { $0.deadline <= now }
                state.waiting.removeFirst(late.count)
                state.isSweeping = !state.waiting.isEmpty
                isNeeded = state.isSweeping
                return late
            }
            for waiter in late { waiter.continuation.resume(throwing: Self.busy) }
        }
    }

    private static let closed = StateSurfaceError(.unavailable, "the store has been closed")
    private static let busy = StateSurfaceError(.unavailable, "no connection to PostgreSQL became free in time")
}
