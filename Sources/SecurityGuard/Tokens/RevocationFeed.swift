import StateSurface
import Synchronization

/// Keeps ``Revocations`` and ``FleetReach`` true: everything at the start, each change as it is told, everything again after a gap.
final class RevocationFeed: Sendable {
    private let revocations: Revocations
    private let state: any RevocationStore & ChangeFeed
    private let clock: @Sendable () -> Int64
    private let reach: FleetReach
    private let subscription = Mutex<Subscription?>(nil)
    /// Asked for and not yet done; `running` while a task works on it.
    private let reload = Mutex((wanted: false, running: false))
    /// When the feed had the gap that has not been made up for yet.
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

    /// Subscribes first and reads afterwards, so that nothing falls between the two.
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
        case .session, .familyRefreshed, .account, .events: break
        }
    }

    /// For how long there may have been revocations that are not known here.
    var sinceGap: Duration { gapSince.withLock { $0?.duration(to: .now) } ?? .zero }

    private func load() async throws {
        revocations.insert(contentsOf: try await state.revocations(now: clock()))
        try await reach.load()
    }

    /// One task at a time; what was known stays in force meanwhile, and only the store's answer ends the attempts.
    private func scheduleReload() {
        let mustStart = reload.withLock { reload in
            reload.wanted = true
            defer { reload.running = true }
            return !reload.running
        }
        gapSince.withLock { $0 = $0 ?? .now }
        guard mustStart else { return }
        Task { [weak self] in
            while let self, self.takeReload() {
                do { try await self.load() } catch {
                    self.reload.withLock { $0.wanted = true }
                    try? await Task.sleep(for: .milliseconds(250))
                }
            }
        }
    }

    private func takeReload() -> Bool {
        reload.withLock { reload in
            defer { reload.wanted = false }
            if !reload.wanted {
                reload.running = false
                gapSince.withLock { $0 = nil }
            }
            return reload.wanted
        }
    }
}
