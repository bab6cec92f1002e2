import EdgeConfiguration
import Leases
import Runtime
import SecurityGuard

/// Checks whether a lease was already over when it was taken, and asks the store about one that may be.
///
/// Between the gate's admission and the moment a socket or stream exists and can be ended, the upstream takes its time
/// to answer. A logout in between is noticed only here. Used by the tables of all event loops; it never waits for the
/// store.
package struct LeaseVerifier: LeaseAuthority, Sendable {
    /// When a lease is taken so many ms after its admission, a refresh of its token's family may have been missed too.
    private static let maxUnheardTime: Int64 = 50

    /// Knows the sessions.
    package let runtime: Runtime
    /// Knows which tokens and families are revoked.
    package let securityGuard: SecurityGuard
    /// Asks the store about a lease.
    package let watch: LeaseWatch
    /// The sessions that have open sockets or streams on this node.
    package let held: HeldSessions
    /// The accounts that open sockets or streams on this node depend on.
    package let heldAccounts: HeldSessions
    /// Milliseconds since the Unix epoch.
    package let clock: @Sendable () -> Int64

    /// Creates the verifier of all event loops.
    package init(
        runtime: Runtime, securityGuard: SecurityGuard, watch: LeaseWatch, held: HeldSessions,
        heldAccounts: HeldSessions,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.runtime = runtime
        self.securityGuard = securityGuard
        self.watch = watch
        self.held = held
        self.heldAccounts = heldAccounts
        self.clock = clock
    }

    /// Why the lease is over, according to memory; nil when it is not. Where memory does not know, the store is asked,
    /// which may end the lease a little later. Called on the lease's event loop, right after the lease was added.
    package func end(of terms: LeaseTerms) -> LeaseEnd? {
        if let account = terms.account, let allow = terms.allow {
            // A change since the admission has been reported to the profiles before this lease was added.
            switch securityGuard.profiles.known(account) {
            case .current(let profile): if !allow.permit(profile) { return .notAllowed }
            case .doubtful, .unknown: watch.verify(account: account)
            }
        }
        // Revocations may have been missed, and those that are read after a gap are not reported to leases.
        if terms.tokenID != nil, securityGuard.sinceRevocationGap > .zero { watch.scheduleCheck() }
        if terms.expiresAt != nil, clock() - terms.admittedAt > Self.maxUnheardTime {
            watch.verify(terms)
        } else {
            verifySession(of: terms)
        }
        return knownEnd(of: terms)
    }

    /// Why the lease is over, according to memory alone; nil where memory knows of no reason. Its time is not looked
    /// at: ``LeaseTable`` does that.
    package func knownEnd(of terms: LeaseTerms) -> LeaseEnd? {
        // Issuer or resource may have been taken out of the configuration since the admission.
        if !securityGuard.acceptsTokens(of: terms.foreignIssuer, for: terms.resource) { return .tokenRevoked }
        if let sessionID = terms.sessionID, let epoch = runtime.knownEpoch(sessionID: sessionID),
            terms.isOutgrown(by: epoch)
        {
            return .sessionUpgraded
        }
        if let key = terms.key, securityGuard.keyRing.retiredKeys.contains(key) { return .tokenRevoked }
        let isRevoked = securityGuard.isRevoked(
            tokenID: terms.tokenID, familyID: terms.familyID, subject: terms.subject, issuedAt: terms.tokenIssuedAt)
        return isRevoked ? .tokenRevoked : nil
    }

    private func verifySession(of terms: LeaseTerms) {
        if !knowsSession(of: terms) { watch.verify(terms) }
    }

    /// Whether memory knows that the session of these terms is live, or they have none.
    package func knowsSession(of terms: LeaseTerms) -> Bool {
        guard let sessionID = terms.sessionID else { return true }
        return runtime.knownEpoch(sessionID: sessionID) != nil
    }

    /// Asks the store about a lease. Its loop is told of an end before `done` is called.
    package func confirm(_ terms: LeaseTerms, done: @escaping @Sendable () -> Void) { watch.verify(terms, done: done) }

    /// A number that grows with every revocation.
    package var revocationCount: UInt64 { securityGuard.revocationCount }

    /// The session's time is over as far as the lease knows: the store is asked, and its answer ends the lease.
    package func sessionDue(_ terms: LeaseTerms) { watch.verify(terms) }

    /// An open socket counts as a use of its session, once a second.
    package func used(sessionID: String) { runtime.noteUse(sessionID) }
}
