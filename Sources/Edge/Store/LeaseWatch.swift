import Leases
import NIOCore
import Runtime
import SecurityGuard
import StateSurface
import Synchronization

/// The roles of the store that leases are checked against.
package typealias LeaseStore = FamilyStore & RevocationStore & ChangeFeed

/// Passes the store's feed on to the leases of every loop, and asks the store about leases that may be over. Safe from
/// any thread. What it learns is given to each loop as a job, in the order in which it comes.
package final class LeaseWatch: Sendable {
    private let loops: LoopStateRegistry
    private let held: HeldSessions
    private let heldAccounts: HeldSessions
    private let profiles: CallerProfiles
    private let runtime: Runtime
    private let state: any LeaseStore
    private let clock: @Sendable () -> Int64
    private let skew: Int64
    private let subscription = Mutex<Subscription?>(nil)
    /// Checking all leases.
    private let check = Mutex(CoalescedWork())

    /// - Parameter held: filled by the loops' tables; a change of a session that is not in it wakes no loop.
    /// - Parameter skew: `tokens.clock_skew` in ms, which is added to the expiry of a refreshed token.
    package init(
        loops: LoopStateRegistry, held: HeldSessions, heldAccounts: HeldSessions, profiles: CallerProfiles,
        runtime: Runtime,
        state: any LeaseStore,
        clock: @escaping @Sendable () -> Int64, skew: Int64
    ) {
        self.loops = loops
        self.held = held
        self.heldAccounts = heldAccounts
        self.profiles = profiles
        self.runtime = runtime
        self.state = state
        self.clock = clock
        self.skew = skew
    }

    /// Subscribes to the feed. Called after Runtime and SecurityGuard have subscribed, so that they know before a lease
    /// ends. To be called once.
    package func start() {
        let subscription = state.subscribe { [weak self] in self?.heard($0) }
        self.subscription.withLock { $0 = subscription }
    }

    /// Ends the subscription. The leases stay as they are.
    package func stop() { subscription.withLock { $0?.cancel() } }

    /// For a change that this node has made, called when it is durable and before its writer is told. So the leases that
    /// it ends are told before the request is answered that made it, and none that the store has refused.
    private func heard(_ change: Change) {
        switch change {
        case .session(let id, let state, let epoch):
            // Most sessions that change have nothing open here: no loop is woken for them.
            guard held.contains(id) else { return }
            if state.isLive {
                // No request can have been admitted by an epoch before the first.
                guard epoch > 0 else { return }
                loops.onEach { $0.leases.sessionMoved(id, to: epoch) }
            } else {
                loops.onEach { $0.leases.sessionEnded(id) }
            }
        case .sessionExtended(let id, let origin, let tokenExpiresAt):
            guard held.contains(id) else { return }
            let end = tokenExpiresAt.addingReportingOverflow(skew)
            let expiresAt = end.overflow ? .max : end.partialValue
            loops.onEach { $0.leases.sessionExtended(id, origin: origin, expiresAt: expiresAt) }
        case .revoked(let revocation): loops.onEach { Self.revoked(revocation, in: $0) }
        case .familyEnded(let id): loops.onEach { $0.leases.familyRevoked(id) }
        case .familyRefreshed(let id, let tokenExpiresAt, let key):
            refreshed(id, tokenExpiresAt, key: key.map { KeyNumber(thumbprint: $0) })
        case .protocolSessionEnded(let hash): loops.onEach { $0.protocolSessions.forget(hash) }
        case .reset:
            loops.onEach { $0.protocolSessions.forgetAll() }
            scheduleCheck()
        case .account(let userID):
            // Most accounts that change have nothing open here that depends on them.
            if heldAccounts.contains(userID) { verify(account: userID) }
        case .tokenReach, .events: break
        }
    }

    private static func revoked(_ revocation: Revocation, in loop: LoopState) {
        switch revocation.kind {
        case .token: loop.leases.tokenRevoked(revocation.id)
        case .family: loop.leases.familyRevoked(revocation.id)
        case .subject:
            let cut = SubjectCut(issuedUntil: revocation.issuedUntil, accountVersion: revocation.accountVersion)
            loop.leases.subjectRevoked(revocation.id, cut)
        }
    }

    /// How many revocations are handed to an event loop in one job: there may be hundreds of thousands after a gap.
    private static let jobSize = 512

    private func revoked(_ revocations: [Revocation]) {
        for start in stride(from: 0, to: revocations.count, by: Self.jobSize) {
            let some = revocations[start..<min(start + Self.jobSize, revocations.count)]
            loops.onEach { loop in
                for revocation in some { Self.revoked(revocation, in: loop) }
            }
        }
    }

    private func refreshed(_ familyID: String, _ tokenExpiresAt: Int64, key: KeyNumber?) {
        let end = tokenExpiresAt.addingReportingOverflow(skew)
        let expiresAt = end.overflow ? .max : end.partialValue
        loops.onEach { $0.leases.familyRefreshed(familyID, expiresAt: expiresAt, key: key) }
    }
}

// MARK: After a gap in the feed
extension LeaseWatch {
    private static let width = 8

    /// Checks all leases: one check at a time, repeated until the store has answered.
    package func scheduleCheck() {
        guard check.withLock({ $0.request() }) else { return }
        Task { [weak self] in
            while let self, self.check.withLock({ $0.takeRequest() }) {
                do { try await self.checkAll() } catch {
                    _ = self.check.withLock { $0.request() }
                    try? await Task.sleep(for: .milliseconds(250))
                }
            }
        }
    }

    /// Checks every lease against the store. Memory does not count: revocations, sessions and families are read again.
    private func checkAll() async throws {
        let terms = try await openTerms()
        guard !terms.isEmpty else { return }
        let revocations = try await state.revocations(now: clock())
        // The sessions that ended with a family are reported before it, as in the feed: a socket is closed because its
        // session ended, not because its token was revoked.
        let families = Set(revocations.lazy.filter { $0.kind == .family }.map(\.id))
        let ended = terms.filter { $0.familyID.map(families.contains) ?? false }
        try await each(Set(ended.compactMap(\.sessionID))) { watch, id in try await watch.checkSession(id) }
        revoked(revocations)
        try await each(Set(terms.compactMap(\.sessionID))) { watch, id in try await watch.checkSession(id) }
        try await each(Set(terms.compactMap(\.account))) { watch, id in try await watch.checkAccount(id) }
        try await each(Set(terms.compactMap(\.familyID))) { watch, id in try await watch.checkFamily(id) }
    }

    private func openTerms() async throws -> [LeaseTerms] {
        var all: [LeaseTerms] = []
        for bound in loops.all {
            all += try await bound.eventLoop.submit { bound.value.leases.holders().map(\.terms) }.get()
        }
        return all
    }

    /// Runs `body` for each, a few at a time: a node with many sockets must not overload the store.
    private func each(
        _ ids: some Sequence<String>, _ body: @escaping @Sendable (LeaseWatch, String) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            for id in ids {
                if running >= Self.width { try await group.next() }
                running += 1
                group.addTask { try await body(self, id) }
            }
            try await group.waitForAll()
        }
    }

    /// Asks the store about one lease. Where that fails, all leases are checked until the store answers. Does not wait;
    /// the lease is ended later, if it is over.
    ///
    /// - Parameter done: called when the loops have been told, or the store could not be asked.
    package func verify(_ terms: LeaseTerms, done: (@Sendable () -> Void)? = nil) {
        Task { [weak self] in
            defer { done?() }
            do {
                if let id = terms.sessionID { try await self?.checkSession(id) }
                if let id = terms.familyID { try await self?.checkFamily(id) }
            } catch {
                self?.scheduleCheck()
            }
        }
    }

    /// Asks the store whether an account still meets what its leases depend on.
    package func verify(account userID: String) {
        Task { [weak self] in
            do { try await self?.checkAccount(userID) } catch { self?.scheduleCheck() }
        }
    }

    private func checkAccount(_ userID: String) async throws {
        let profile = try await profiles.load(userID)
        loops.onEach { $0.leases.accountChanged(profile) }
    }

    private func checkSession(_ id: String) async throws {
        guard let epoch = try await runtime.liveEpoch(sessionID: id) else {
            return loops.onEach { $0.leases.sessionEnded(id) }
        }
        loops.onEach { $0.leases.sessionMoved(id, to: epoch) }
    }

    private func checkFamily(_ id: String) async throws {
        // A family that is no longer known has no token that could still be valid.
        guard let family = try await state.family(id: id) else { return }
        guard family.isLive else { return loops.onEach { $0.leases.familyRevoked(id) } }
        // The store does not keep which key signed the newest token, so the last known one stays.
        if let tokenExpiresAt = family.tokenExpiresAt { refreshed(id, tokenExpiresAt, key: nil) }
    }
}
