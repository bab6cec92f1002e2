import SecurityGuard

/// Whoever is let in by a lease and must go when it ends. Called on the lease's event loop, at most once.
package protocol LeaseHolder: AnyObject {
    /// Says so to the peer, and no more: where many end at once, all are told before anything else is done for one.
    func leaseEnded(_ end: LeaseEnd)
    /// Follows `leaseEnded`: what else there is to do.
    func settle()
}

extension LeaseHolder {
    package func settle() {}
}

/// What an open socket or streaming answer was admitted with: everything that can end it.
package struct LeaseTerms: Sendable {
    /// The session it is bound to; nil where only a token was asked for.
    package var sessionID: String?
    /// The session's epoch when it was admitted.
    var sessionEpoch: Int64 = 0
    /// Whether the session had no owner when it was admitted.
    var isAnonymous = false
    /// `jti`, `fid` and `sub` of the access token; nil where no token was asked for.
    package var tokenID: String?
    package var familyID: String?
    package var subject: String?
    /// `iat` of the token, in ms.
    package var tokenIssuedAt: Int64 = 0
    /// The key of the newest token that this is known to rest on: the one it was admitted with, or a refreshed one.
    package var key: KeyNumber?
    /// When the token is no longer good, `exp` plus the clock skew, in ms since the epoch; moved by a refresh.
    /// nil for answers that only a revocation ends early.
    package var expiresAt: Int64?
    /// The end that nothing can move, in ms since the epoch.
    package var endsAt = Int64.max
    /// When the session ends however much it is used, in ms since the epoch.
    var sessionEndsAt = Int64.max
    /// When it was let in, in ms since the epoch: what happened after that may have been missed.
    package var admittedAt: Int64 = 0

    /// The next moment at which time alone may end it.
    var due: Int64 { min(expiresAt ?? .max, endsAt, sessionEndsAt) }

    /// Whether a session in this epoch has nothing to do any more with what admitted this.
    package func isOutgrown(by epoch: Int64) -> Bool { (isAnonymous || tokenID == nil) && sessionEpoch < epoch }
}

/// The leases of one event loop: found by session, token, family and subject, and by time.
///
/// Time is kept in a hashed wheel of 50 ms slots. A refresh only writes the new expiry; the slot finds out when it
/// comes round. Confined to its loop.
package final class LeaseTable {
    package typealias ID = UInt64

    private struct Entry {
        var terms: LeaseTerms
        weak var holder: (any LeaseHolder)?
        /// Why it was over before it began.
        var overBefore: LeaseEnd?
    }

    static let slotWidth: Int64 = 50
    private static let slotCount: Int64 = 1024

    private var entries: [ID: Entry] = [:]
    private var nextID: ID = 0
    private var bySession = LeaseIndex()
    private var byToken = LeaseIndex()
    private var byFamily = LeaseIndex()
    private var bySubject = LeaseIndex()
    private var wheel: [[ID]] = Array(repeating: [], count: Int(slotCount))
    /// The last slot number that was looked at.
    private var turned: Int64
    private var lastUse: Int64
    /// Keys that are out of service, as of the key ring of this generation.
    private var fallenKeys: Set<KeyNumber> = []
    private var keyGeneration: UInt64 = 0

    /// Where other threads look up which sessions have a lease on some loop.
    package var held: HeldSessions?
    /// Asked of every new lease: what ended between its admission and now was told when nobody listened for it yet.
    package var verify: ((LeaseTerms) -> LeaseEnd?)?
    /// Asked when a lease's session has come to its end: the store's answer ends it.
    package var sessionDue: ((LeaseTerms) -> Void)?
    /// Told once a second of every session that has something open.
    package var used: ((String) -> Void)?

    package init(now: Int64) {
        turned = now / Self.slotWidth
        lastUse = now
    }

    package var count: Int { entries.count }

    package func insert(_ terms: LeaseTerms, holder: any LeaseHolder) -> ID {
        nextID += 1
        let id = nextID
        // Before it is verified: what ends from here on is told to this loop.
        if let key = terms.sessionID { held?.add(key) }
        let overBefore = verify?(terms)
        entries[id] = Entry(terms: terms, holder: holder, overBefore: overBefore)
        bySession.insert(id, under: terms.sessionID)
        byToken.insert(id, under: terms.tokenID)
        byFamily.insert(id, under: terms.familyID)
        bySubject.insert(id, under: terms.subject)
        if overBefore != nil { place(id, due: .min) } else if terms.due < .max { place(id, due: terms.due) }
        return id
    }

    package func remove(_ id: ID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if let key = entry.terms.sessionID { held?.remove(key) }
        bySession.remove(id, under: entry.terms.sessionID)
        byToken.remove(id, under: entry.terms.tokenID)
        byFamily.remove(id, under: entry.terms.familyID)
        bySubject.remove(id, under: entry.terms.subject)
    }

    // MARK: What ends and what extends

    /// The session is no longer live.
    package func sessionEnded(_ sessionID: String) {
        end(bySession[sessionID], .sessionEnded) { _ in true }
    }

    /// The session moved to another epoch: whoever was let in before its owner was known must go, as must whoever was
    /// let in by a secret that is no longer the session's.
    package func sessionMoved(_ sessionID: String, to epoch: Int64) {
        end(bySession[sessionID], .sessionUpgraded) { $0.isOutgrown(by: epoch) }
    }

    package func tokenRevoked(_ tokenID: String) {
        end(byToken[tokenID], .tokenRevoked) { _ in true }
    }

    package func familyRevoked(_ familyID: String) {
        end(byFamily[familyID], .tokenRevoked) { _ in true }
    }

    package func subjectRevoked(_ subject: String, _ cut: SubjectCut) {
        end(bySubject[subject], .tokenRevoked) { cut.ends(issuedAt: $0.tokenIssuedAt, familyID: $0.familyID) }
    }

    /// A token of the family was refreshed: what an older token of it admitted lives on until the new expiry, and
    /// rests on the new token's key.
    package func familyRefreshed(_ familyID: String, expiresAt: Int64, key: KeyNumber? = nil) {
        for id in byFamily[familyID] {
            guard let current = entries[id]?.terms.expiresAt, current <= expiresAt else { continue }
            entries[id]?.terms.expiresAt = expiresAt
            if let key { entries[id]?.terms.key = key }
        }
        // Refreshed by a node that had not heard yet that the key it signs with is out of service.
        if let key, fallenKeys.contains(key) { end(byFamily[familyID], .tokenRevoked) { $0.key == key } }
    }

    /// The key ring is of this generation: what rests on a key that is out of service must go.
    package func keysMoved(to generation: UInt64, fallen: @autoclosure () -> Set<KeyNumber>) {
        guard generation != keyGeneration else { return }
        keyGeneration = generation
        let gone = fallen()
        guard gone != fallenKeys else { return }
        fallenKeys = gone
        var concerned: [ID] = []
        for (id, entry) in entries {
            if let key = entry.terms.key, gone.contains(key) { concerned.append(id) }
        }
        end(concerned, .tokenRevoked) { _ in true }
    }

    /// Ends everything, for example when the store has been lost.
    package func endAll(_ reason: LeaseEnd) {
        end(Array(entries.keys), reason) { _ in true }
    }

    /// What is held, for a fresh look at the store.
    package func holders() -> [(id: ID, terms: LeaseTerms)] { entries.map { ($0.key, $0.value.terms) } }

    /// Ends one lease.
    package func end(_ id: ID, _ reason: LeaseEnd) { end([id], reason) { _ in true } }

    /// Looks at every slot whose time has come.
    package func turn(now: Int64) {
        tellUses(now)
        let current = now / Self.slotWidth
        guard current > turned else {
            // A clock that was set back: start over from where it is now.
            if current < turned - 20 { turned = current }
            return
        }
        let steps = min(current - turned, Self.slotCount)
        for step in 0..<steps {
            let slot = Int((current - step) % Self.slotCount)
            let ids = wheel[slot]
            guard !ids.isEmpty else { continue }
            wheel[slot] = []
            for id in ids { look(at: id, now: now) }
        }
        turned = current
    }

    /// An open socket or stream is a use of its session.
    private func tellUses(_ now: Int64) {
        guard let used, now >= lastUse + 1_000 || now < lastUse else { return }
        lastUse = now
        for sessionID in bySession.keys { used(sessionID) }
    }

    private func look(at id: ID, now: Int64) {
        guard let entry = entries[id] else { return }
        if let reason = entry.overBefore { return end(id, reason) }
        let terms = entry.terms
        if terms.due > now { return place(id, due: terms.due) }
        if terms.sessionEndsAt <= now {
            sessionDue?(terms)
            entries[id]?.terms.sessionEndsAt = .max
            return place(id, due: now)
        }
        let isToken = (terms.expiresAt ?? .max) <= now
        end([id], isToken ? .tokenExpired : .lifetimeOver) { _ in true }
    }

    private func place(_ id: ID, due: Int64) {
        // Beyond the horizon the lease waits in the farthest slot and is placed anew from there.
        let slot = min(max(due / Self.slotWidth, turned) + 1, turned + Self.slotCount - 1)
        wheel[Int(slot % Self.slotCount)].append(id)
    }

    private func end(_ ids: [ID], _ reason: LeaseEnd, where isConcerned: (LeaseTerms) -> Bool) {
        var ended: [(id: ID, holder: any LeaseHolder)] = []
        for id in ids {
            guard let index = entries.index(forKey: id), isConcerned(entries.values[index].terms) else { continue }
            guard let holder = entries.values[index].holder else {
                remove(id)
                continue
            }
            // No second end can find it on the way.
            entries.values[index].holder = nil
            holder.leaseEnded(reason)
            ended.append((id, holder))
        }
        for (id, holder) in ended {
            remove(id)
            holder.settle()
        }
    }
}
