import Synchronization

/// When the feed last proved to be alive.
final class Beat: Sendable {
    private let last: Mutex<ContinuousClock.Instant>

    init() {
        last = Mutex(.now)
    }

    /// Everything committed before `instant` has been told.
    func proved(at instant: ContinuousClock.Instant) {
        last.withLock { $0 = max($0, instant) }
    }

    var age: Duration { last.withLock { $0.duration(to: .now) } }
}
