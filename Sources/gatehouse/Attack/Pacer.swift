/// Delays requests so that they are sent no faster than the rate.
actor Pacer {
    private let interval: Duration
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
