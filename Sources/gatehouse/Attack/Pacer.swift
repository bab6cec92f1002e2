/// Delays requests so that they are sent no faster than the rate.
actor Pacer {
    /// From the beginning of one request to that of the next.
    private let interval: Duration
    /// When the next request may begin; nil before the first. Each that waits moves it on, so requests keep their
    /// order.
    private var next: ContinuousClock.Instant?

    /// - Parameter rate: how many may begin in a second, one at least.
    init(perSecond rate: Int) {
        interval = .seconds(1) / max(rate, 1)
    }

    /// Returns when the next one may begin.
    func wait() async throws {
        let now = ContinuousClock.now
        let turn = max(next ?? now, now)
        next = turn + interval
        if turn > now { try await Task.sleep(until: turn, clock: .continuous) }
    }
}
