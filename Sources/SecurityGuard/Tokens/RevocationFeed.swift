import StateSurface
import Synchronization

/// Keeps ``Revocations`` and ``FleetReach`` up to date: it reads everything at start and after an interruption of the
/// feed, and applies each change.
final class RevocationFeed: Sendable {
    private let revocations: Revocations
    private let state: any RevocationStore & ChangeFeed
    private let clock: @Sendable () -> Int64
    private let reach: FleetReach
    private let subscription = Mutex<Subscription?>(nil)
    /// Reading everything again.
    private let reload = Mutex(CoalescedWork())
    /// When the feed was interrupted, until a reload has succeeded.
    private let gapSince = Mutex<ContinuousClock.Instant?>(nil)

    init(
        _ revocations: Revocations, state: any RevocationStore & ChangeFeed, reach: FleetReach,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.revocations = revocations
        self.state = state
        self.reach = reach
        self.clock = clock
    }

    deinit { subscription.withLock { $0?.cancel() } }

    /// Subscribes before it reads, so that no change is missed in between.
    func start() async throws {
        let subscription = state.subscribe { [weak self] change in self?.observe(change) }
        self.subscription.withLock { $0 = subscription }
        try await load()
    }

    private func observe(_ change: Change) {
        switch change {
        case .revoked(let revocation): revocations.insert(revocation)
        case .familyEnded(let id):
            revocations.insert(Revocation(kind: .family, id: id, expiresAt: clock() &+ reach.tokenReach))
        case .tokenReach(let told): reach.heard(told)
        case .reset: scheduleReload()
        case .session, .sessionExtended, .familyRefreshed, .account, .events, .protocolSessionEnded: break
        }
    }

    /// The time for which revocations may have been missed.
    var sinceGap: Duration { gapSince.withLock { $0?.duration(to: .now) } ?? .zero }

    private func load() async throws {
        // Also those that have ended by a clock that is ahead, and will be needed when it is set right.
        revocations.insert(contentsOf: try await state.revocations(now: clock() &- Revocation.margin))
        try await reach.load()
    }

    /// Starts a reload, one at a time. Known revocations stay in force, and it is repeated until the store answers.
    private func scheduleReload() {
        // Under one lock: a reload that ends in between would leave a gap that nothing ends.
        let mustStart = reload.withLock { reload in
            gapSince.withLock { $0 = $0 ?? .now }
            return reload.request()
        }
        guard mustStart else { return }
        Task { [weak self] in
            while let self, self.takeReload() {
                do { try await self.load() } catch {
                    _ = self.reload.withLock { $0.request() }
                    try? await Task.sleep(for: .milliseconds(250))
                }
            }
        }
    }

    private func takeReload() -> Bool {
        reload.withLock { reload in
            let isWanted = reload.takeRequest()
            if !isWanted { gapSince.withLock { $0 = nil } }
            return isWanted
        }
    }
}
