import Synchronization

/// When the feed last proved to be alive.
final class Beat: Sendable {
    private struct State {
        var last = ContinuousClock.now
        var isLost = false
    }

    private let state = Mutex(State())

    /// Everything committed before `instant` has been told.
    func proved(at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.last = max(state.last, instant)
            state.isLost = false
        }
    }

    /// The link has broken: no need to wait for silence to know that. The next proof mends it.
    func lost() { state.withLock { $0.isLost = true } }

    var age: Duration { state.withLock { $0.last }.duration(to: .now) }
    var isLost: Bool { state.withLock { $0.isLost } }
}
