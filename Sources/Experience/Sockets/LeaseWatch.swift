import NIOCore
import Runtime
import SecurityGuard
import StateSurface
import Synchronization

/// Carries what the feed tells to the leases of every loop, and turns their wheels.
final class LeaseWatch: Sendable {
    private let loops: LoopStates
    private let runtime: Runtime
    private let securityGuard: SecurityGuard
    private let clock: @Sendable () -> Int64
    private let skew: Int64
    private let subscription = Mutex<Subscription?>(nil)

    init(
        loops: LoopStates, runtime: Runtime, securityGuard: SecurityGuard, clock: @escaping @Sendable () -> Int64,
        skew: Int64
    ) {
        self.loops = loops
        self.runtime = runtime
        self.securityGuard = securityGuard
        self.clock = clock
        self.skew = skew
    }

    /// Begins to listen. Called after Runtime and SecurityGuard have subscribed: they know before a lease ends.
    func start(state: any StateSurface) {
        let subscription = state.subscribe { [weak self] in self?.heard($0) }
        self.subscription.withLock { $0 = subscription }
    }

    func stop() { subscription.withLock { $0?.cancel() } }

    private func heard(_ change: Change) {
        switch change {
        case .session(let id, let state, let epoch):
            if state.isLive {
                loops.onEach { $0.leases.sessionMoved(id, to: epoch) }
            } else {
                loops.onEach { $0.leases.sessionEnded(id) }
            }
        case .revoked(let revocation): revoked(revocation)
        case .familyEnded(let id): loops.onEach { $0.leases.familyRevoked(id) }
        case .reset: Task { await self.checkAll() }
        case .account, .events: break
        }
    }

    private func revoked(_ revocation: Revocation) {
        switch revocation.kind {
        case .token: loops.onEach { $0.leases.tokenRevoked(revocation.id) }
        case .family: loops.onEach { $0.leases.familyRevoked(revocation.id) }
        case .subject:
            loops.onEach { $0.leases.subjectRevoked(revocation.id, issuedUntil: revocation.issuedUntil) }
        }
    }

    /// A token of the family was refreshed here.
    func familyRefreshed(_ family: String, tokenExpiresAt: Int64) {
        let expiresAt = tokenExpiresAt + skew
        loops.onEach { $0.leases.familyRefreshed(family, expiresAt: expiresAt) }
    }

    /// After a gap nothing remembered counts: every lease is asked about anew.
    private func checkAll() async {
        for bound in loops.all {
            let held = try? await bound.eventLoop.submit {
                bound.value.leases.holders().map { Held(id: $0.id, terms: $0.terms) }
            }.get()
            for lease in held ?? [] {
                guard let reason = await end(of: lease.terms) else { continue }
                bound.eventLoop.execute { bound.value.leases.end(lease.id, reason) }
            }
        }
    }

    private struct Held: Sendable {
        let id: LeaseTable.ID
        let terms: LeaseTerms
    }

    /// Why a lease is over, as the store says; nil while it isn't, or while the store can't be asked.
    private func end(of terms: LeaseTerms) async -> LeaseEnd? {
        if let sessionID = terms.sessionID {
            do {
                if try await !runtime.isLive(sessionID: sessionID, epoch: terms.isAnonymous ? terms.sessionEpoch : nil) {
                    return .sessionEnded
                }
            } catch {
                return nil
            }
        }
        let isRevoked = securityGuard.isRevoked(
            tokenID: terms.tokenID, familyID: terms.familyID, subject: terms.subject, issuedAt: terms.tokenIssuedAt)
        return isRevoked ? .tokenRevoked : nil
    }
}

/// How the age of the store's last sign of life is to be taken.
enum StoreWatch {
    /// The feed beats each second; one missed beat is no loss.
    static let silence = Duration.milliseconds(2_500)

    static func health(of state: any StateSurface, grace: Int64) -> StoreHealth {
        let age = state.sinceLastBeat()
        if age <= silence { return .current }
        return age <= .milliseconds(grace) ? .silent : .lost
    }
}
