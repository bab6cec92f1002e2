import Synchronization

@testable import StateSurface

/// A database whose every transaction and question waits until the test lets it through, for callers that are being
/// scheduled.
struct SteppedEngine: SQLEngine {
    let inner: any SQLEngine
    let gate: StepGate
    /// Thrown where a question is asked, for which its SQL is given.
    var fault: @Sendable (_ sql: String) throws -> Void = { _ in }

    var dialect: SQLDialect { inner.dialect }
    var observers: Observers { inner.observers }

    /// One step: nothing can come between what a transaction reads and what it writes.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        await gate.pass()
        return try await inner.write(body)
    }

    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow] {
        await gate.pass()
        try fault(sql)
        return try await inner.rows(sql, values)
    }

    func sinceLastBeat() -> Duration { inner.sinceLastBeat() }
    func feedIsLost() -> Bool { inner.feedIsLost() }
    func ping() async throws { try await inner.ping() }
    func close() async { await inner.close() }
}

/// Holds the callers that are being scheduled; lets all others pass.
final class StepGate: Sendable {
    @TaskLocal static var isScheduled = false

    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var finished = 0
    }

    private let state = Mutex(State())

    func pass() async {
        guard Self.isScheduled else { return }
        await withCheckedContinuation { continuation in state.withLock { $0.waiting.append(continuation) } }
    }

    func finish() { state.withLock { $0.finished += 1 } }

    /// Waits until all of so many callers wait or have finished. Whether some still wait.
    func settle(_ count: Int) async -> Bool {
        while true {
            let (waiting, finished) = state.withLock { ($0.waiting.count, $0.finished) }
            if waiting + finished == count { return waiting > 0 }
            await Task.yield()
        }
    }

    /// Lets one of those who wait go on.
    func step(_ dice: inout some RandomNumberGenerator) {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else { return nil }
            return state.waiting.remove(at: Int.random(in: 0..<state.waiting.count, using: &dice))
        }
        next?.resume()
    }

    func reset() { state.withLock { $0.finished = 0 } }
}
