import Synchronization

/// The time of the last heartbeat of the feed.
final class Heartbeat: Sendable {
    private struct State {
        var last = ContinuousClock.now
        var isLost = false
    }

    private let state = Mutex(State())

    /// Records that everything committed before `instant` has been reported.
    func proved(at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.last = max(state.last, instant)
            state.isLost = false
        }
    }

    /// Records that the connection was lost. The next heartbeat ends this state.
    func lost() { state.withLock { $0.isLost = true } }

    /// The time since the last heartbeat, or since the feed was made if there was none.
    var age: Duration { state.withLock { $0.last }.duration(to: .now) }
    var isLost: Bool { state.withLock { $0.isLost } }
}
