import Synchronization

/// Keeps the event loops for changes of the configuration: they are shut down only when no change is in progress, and
/// none begins after that. A job that is given to a loop that has been shut down is never done, and who waits for it
/// waits for ever.
final class ChangeGate: Sendable {
    private struct State {
        var running = 0
        var isClosed = false
        var closing: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Makes a change, unless the gate is closed.
    ///
    /// - Returns: whether it was made.
    /// - Throws: what the change throws.
    @discardableResult
    func perform(_ change: () async throws -> Void) async rethrows -> Bool {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.running += 1 }
            return !state.isClosed
        }
        guard isOpen else { return false }
        defer { end() }
        try await change()
        return true
    }

    private func end() {
        let closing = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.running -= 1
            return state.running == 0 ? state.closing.take() : nil
        }
        closing?.resume()
    }

    /// Returns when no change is in progress; none begins any more. To be called once.
    func close() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                state.isClosed = true
                if state.running > 0 { state.closing = continuation }
                return state.running == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}
