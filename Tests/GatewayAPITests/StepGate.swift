import Synchronization

@testable import StateSurface

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
