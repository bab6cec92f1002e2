import EdgeConfiguration
import EdgeCore
import SecurityGuard

/// The leases of one event loop, indexed by session, token, family, subject and time. It must be used on its loop only.
///
/// A refresh only changes the expiry; the timing wheel notices that at the old one. A lease is added before it is
/// verified, so that no event that ends it is missed.
package final class LeaseTable {
    /// Names a lease of this table; never used again.
    package typealias ID = UInt64

    private struct Entry {
        var terms: LeaseTerms
        weak var holder: (any LeaseHolder)?
        /// Why it had ended before it was added; nil if it had not.
        var endedBefore: LeaseEnd?
    }

    /// The interval in milliseconds at which uses of sessions with leases are reported.
    private static let useInterval: Int64 = 1_000

    private let authority: any LeaseAuthority
    private var entries: [ID: Entry] = [:]
    private var nextID: ID = 0
    private var bySession = LeaseIndex()
    private var byToken = LeaseIndex()
    private var byFamily = LeaseIndex()
    private var bySubject = LeaseIndex()
    private var byAccount = LeaseIndex()
    private var wheel: TimingWheel<ID>
    private var lastUse: Int64
    /// The retired keys of the key ring of this generation.
    private var retiredKeys: Set<KeyNumber> = []
    private var keyGeneration: UInt64 = 0
    /// How many leases have ended so far, by reason.
    package private(set) var ends: [LeaseEnd: Int] = [:]

    /// - Parameter now: the time in Unix milliseconds, as in all other methods.
    package init(now: Int64, authority: any LeaseAuthority) {
        self.authority = authority
        wheel = TimingWheel(unitsPerMillisecond: 1, now: now)
        lastUse = now
    }

    /// The number of leases.
    package var count: Int { entries.count }

    /// Adds a lease for `holder`, which its owner keeps alive and which is told of the end at most once.
    ///
    /// The lease is added before it is verified. If it has already ended, the holder is told at the next turn, when it
    /// is ready.
    package func insert(_ terms: LeaseTerms, holder: any LeaseHolder) -> ID {
        nextID += 1
        let id = nextID
        // Added before the verification, so that later changes are reported to this loop.
        if let key = terms.sessionID { authority.held.add(key) }
        if let key = terms.account { authority.heldAccounts.add(key) }
        let endedBefore = authority.end(of: terms)
        entries[id] = Entry(terms: terms, holder: holder, endedBefore: endedBefore)
        bySession.insert(id, under: terms.sessionID)
        byToken.insert(id, under: terms.tokenID)
        byFamily.insert(id, under: terms.familyID)
        bySubject.insert(id, under: terms.subject)
        byAccount.insert(id, under: terms.account)
        if endedBefore != nil || terms.due < .max { wheel.insert(id, due: endedBefore == nil ? terms.due : .min) }
        return id
    }

    // MARK: Before the answer or the socket begins

    /// A number that grows with every revocation: while it is the same, no token has been revoked.
    package var revocationCount: UInt64 { authority.revocationCount }

    /// Why a lease with these terms would be over already, as far as memory knows; nil where it would not, and for open
    /// routes. To be asked before an answer or a socket begins, since the upstream may have taken its time.
    package func endBeforeUse(of terms: LeaseTerms?) -> LeaseEnd? {
        guard let terms else { return nil }
        return isExpired(terms) ? .tokenExpired : authority.knownEnd(of: terms)
    }

    /// The same for a lease that was taken before, whose terms a refresh may have changed since.
    package func endBeforeUse(of id: ID) -> LeaseEnd? {
        guard let entry = entries[id] else { return nil }
        return entry.endedBefore ?? endBeforeUse(of: entry.terms)
    }

    private func isExpired(_ terms: LeaseTerms) -> Bool { (terms.expiresAt ?? .max) <= authority.clock() }

    /// Asks the store about a lease whose session memory does not know to be live, or whose token has expired, since a
    /// refresh of its family may have been missed.
    ///
    /// - Parameter done: called where the store was asked, on any thread, after the holder was told of an end.
    /// - Returns: whether the store is asked.
    package func confirm(_ id: ID, done: @escaping @Sendable () -> Void) -> Bool {
        guard let terms = entries[id]?.terms else { return false }
        if authority.knowsSession(of: terms), !isExpired(terms) { return false }
        authority.confirm(terms, done: done)
        return true
    }

    /// Gives a lease to another holder: what began as an upgrade goes on as a socket.
    package func move(_ id: ID, to holder: any LeaseHolder) { entries[id]?.holder = holder }

    /// Removes a lease. Its holder is not called any more.
    package func remove(_ id: ID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if let key = entry.terms.sessionID { authority.held.remove(key) }
        if let key = entry.terms.account { authority.heldAccounts.remove(key) }
        bySession.remove(id, under: entry.terms.sessionID)
        byToken.remove(id, under: entry.terms.tokenID)
        byFamily.remove(id, under: entry.terms.familyID)
        bySubject.remove(id, under: entry.terms.subject)
        byAccount.remove(id, under: entry.terms.account)
    }

    // MARK: Ending and extending

    /// The session is no longer live.
    package func sessionEnded(_ sessionID: String) {
        end(bySession[sessionID], .sessionEnded) { _ in true }
    }

    /// The session has a new epoch. Ends leases from before it had an owner, and leases admitted by a secret that has
    /// been replaced.
    package func sessionMoved(_ sessionID: String, to epoch: Int64) {
        end(bySession[sessionID], .sessionUpgraded) { $0.isOutgrown(by: epoch) }
    }

    /// The token with this `jti` was revoked.
    package func tokenRevoked(_ tokenID: String) {
        end(byToken[tokenID], .tokenRevoked) { _ in true }
    }

    /// The refresh family ended, and its access tokens with it.
    package func familyRevoked(_ familyID: String) {
        end(byFamily[familyID], .tokenRevoked) { _ in true }
    }

    /// The tokens of a subject were revoked.
    package func subjectRevoked(_ subject: String, _ cut: SubjectCut) {
        end(bySubject[subject], .tokenRevoked) { cut.ends(issuedAt: $0.tokenIssuedAt, familyID: $0.familyID) }
    }

    /// An account has changed. Ends the leases whose `allow` it no longer meets.
    package func accountChanged(_ profile: CallerProfile) {
        end(byAccount[profile.userID], .notAllowed) { $0.allow?.permit(profile) == false }
    }

    /// A token of the family was refreshed. Leases of the family are extended to the new expiry, and depend on the new
    /// token's key.
    package func familyRefreshed(_ familyID: String, expiresAt: Int64, key: KeyNumber? = nil) {
        for id in byFamily[familyID] {
            guard let current = entries[id]?.terms.expiresAt, current <= expiresAt else { continue }
            entries[id]?.terms.expiresAt = expiresAt
            if let key { entries[id]?.terms.key = key }
        }
        // Refreshed by a node that had not yet noticed that its key was retired.
        if let key, retiredKeys.contains(key) { end(byFamily[familyID], .tokenRevoked) { $0.key == key } }
    }

    /// A newer token of the same issuer and subject extends the leases of the session that older ones opened.
    package func sessionExtended(_ sessionID: String, origin: String, expiresAt: Int64) {
        for id in bySession[sessionID] {
            guard let terms = entries[id]?.terms, terms.foreignOrigin == origin, let current = terms.expiresAt,
                current <= expiresAt
            else { continue }
            entries[id]?.terms.expiresAt = expiresAt
        }
    }

    /// Other tokens may be accepted from now on. Ends the leases that rest on one that is not.
    /// - Parameter accepts: whether tokens of this issuer are accepted for this resource; see
    ///   `SecurityGuard.acceptsTokens(of:for:)`.
    package func acceptanceChanged(_ accepts: (_ issuer: String?, _ resource: String?) -> Bool) {
        end(Array(entries.keys), .tokenRevoked) { !accepts($0.foreignIssuer, $0.resource) }
    }

    /// The key ring has changed. Ends the leases whose key was retired.
    package func keysChanged(generation: UInt64, retired: @autoclosure () -> Set<KeyNumber>) {
        guard generation != keyGeneration else { return }
        keyGeneration = generation
        let keys = retired()
        guard keys != retiredKeys else { return }
        retiredKeys = keys
        var concerned: [ID] = []
        for (id, entry) in entries {
            if let key = entry.terms.key, keys.contains(key) { concerned.append(id) }
        }
        end(concerned, .tokenRevoked) { _ in true }
    }

    /// Ends all leases, for example when the store has been unreachable for too long.
    package func endAll(_ reason: LeaseEnd) {
        end(Array(entries.keys), reason) { _ in true }
    }

    /// All leases, to check them again in the store.
    package func holders() -> [(id: ID, terms: LeaseTerms)] { entries.map { ($0.key, $0.value.terms) } }

    /// The terms of one lease; nil when it has ended.
    package func terms(of id: ID) -> LeaseTerms? { entries[id]?.terms }

    /// Ends one lease.
    package func end(_ id: ID, _ reason: LeaseEnd) { end([id], reason) { _ in true } }

    /// Ends the leases whose time is over. A clock that was set back does not delay that.
    package func turn(now: Int64) {
        reportUses(now)
        wheel.turn(to: now)
        while let ids = wheel.takeDue() {
            for id in ids { checkTime(of: id, now: now) }
        }
    }

    /// Reports the uses of sessions: an open socket or stream counts as a use.
    private func reportUses(_ now: Int64) {
        guard now >= lastUse + Self.useInterval || now < lastUse else { return }
        lastUse = now
        for sessionID in bySession.keys { authority.used(sessionID: sessionID) }
    }

    private func checkTime(of id: ID, now: Int64) {
        guard let entry = entries[id] else { return }
        if let reason = entry.endedBefore { return end(id, reason) }
        let terms = entry.terms
        if terms.due > now { return wheel.insert(id, due: terms.due) }
        if terms.sessionEndsAt <= now {
            authority.sessionDue(terms)
            entries[id]?.terms.sessionEndsAt = .max
            return wheel.insert(id, due: now)
        }
        let isToken = (terms.expiresAt ?? .max) <= now
        end([id], isToken ? .tokenExpired : .lifetimeOver) { _ in true }
    }

    private func end(_ ids: [ID], _ reason: LeaseEnd, where isConcerned: (LeaseTerms) -> Bool) {
        var ended: [(id: ID, holder: any LeaseHolder)] = []
        for id in ids {
            guard let index = entries.index(forKey: id), isConcerned(entries.values[index].terms) else { continue }
            guard let holder = entries.values[index].holder else {
                remove(id)
                continue
            }
            // Removed first, so that the lease cannot end twice.
            entries.values[index].holder = nil
            holder.leaseEnded(reason)
            ends[reason, default: 0] += 1
            ended.append((id, holder))
        }
        for (id, holder) in ended {
            remove(id)
            holder.settle()
        }
    }
}
