import StateSurface

/// Evidence that a session was live and open to somebody at the time of asking. Only the checks in this file make one,
/// so whatever takes a permit cannot be reached without them.
package struct Permit: Sendable, Equatable {
    private let facts: SessionFacts

    package var sessionID: String { self.facts.id }
    package var state: SessionState { SessionState(self.facts.state) }
    /// The owner; both nil while the session is anonymous.
    package var tenantID: String? { self.facts.tenantID }
    package var userID: String? { self.facts.userID }
    /// The session's epoch. A session with a higher one has outgrown this permit.
    package var epoch: Int64 { self.facts.epoch }
    package var familyID: String? { self.facts.familyID }
    /// When the session ends at the latest, however much it is used.
    package var absoluteExpiresAt: Milliseconds { self.facts.absoluteExpiresAt }

    fileprivate init(_ facts: SessionFacts) { self.facts = facts }

    package static func == (a: Self, b: Self) -> Bool {
        a.sessionID == b.sessionID && a.state == b.state && a.tenantID == b.tenantID && a.userID == b.userID
            && a.epoch == b.epoch && a.familyID == b.familyID && a.absoluteExpiresAt == b.absoluteExpiresAt
    }
}

/// What has become of a permit.
package enum Renewal: Sendable, Equatable {
    /// It is good still; this is what it says now.
    case holds(Permit)
    /// The session has ended or expired, or was never there.
    case ended
    /// The session lives on, in an epoch of which this permit knows nothing.
    case outgrown
}

/// What memory alone can say. There is no "no": that is for the store to say.
package enum RememberedPermit: Sendable {
    case granted(Permit)
    case askStore
}

/// The checks. Pure: a session as it is known, who asks, and the time.
enum Admit {
    /// A live, authenticated session, to its owner.
    static func owner(_ owner: SessionOwner, to entry: SessionView.Entry?, now: Milliseconds) -> Permit? {
        guard let entry, case .authenticated = entry.facts.state, !entry.times.isOver(at: now),
            owner.owns(tenantID: entry.facts.tenantID, userID: entry.facts.userID)
        else { return nil }
        return Permit(entry.facts)
    }

    /// The same of a session in memory, where it lies.
    static func owner(_ owner: PackedOwner, to slot: SessionSlot, now: Milliseconds) -> Permit? {
        guard case .authenticated = slot.state, !slot.times.isOver(at: now), slot.isOwned(by: owner),
            let facts = slot.facts?.takeUnretainedValue()
        else { return nil }
        return Permit(facts)
    }

    /// A live session, to whoever holds its current secret.
    static func bearer(ofSecret hash: [UInt8], to entry: SessionView.Entry?, now: Milliseconds) -> Permit? {
        guard let entry, SessionProof.equal(entry.facts.secretHash, hash), entry.isLive(at: now) else { return nil }
        return Permit(entry.facts)
    }

    /// A permit once more, if the session still is what it was made for.
    static func again(_ permit: Permit, to entry: SessionView.Entry?, now: Milliseconds) -> Renewal {
        guard let entry, entry.isLive(at: now), entry.facts.id.utf8.elementsEqual(permit.sessionID.utf8) else {
            return .ended
        }
        return entry.epoch == permit.epoch ? .holds(Permit(entry.facts)) : .outgrown
    }
}

extension SessionView {
    /// Judges from memory whether a session is this user's, live and authenticated. Never waits.
    package func admit(sessionID: String, tenantID: String, userID: String, now: Milliseconds) -> RememberedPermit {
        let owner = PackedOwner(SessionOwner(tenantID: tenantID, userID: userID))
        let permit = self.permit(id: sessionID) { slot in Admit.owner(owner, to: slot, now: now) }
        return permit.map(RememberedPermit.granted) ?? .askStore
    }

    /// Judges from memory whether this is the current secret of a live session. Never waits.
    package func admit(secretHash: [UInt8], now: Milliseconds) -> RememberedPermit {
        Admit.bearer(ofSecret: secretHash, to: self.entry(secretHash: secretHash), now: now)
            .map(RememberedPermit.granted) ?? .askStore
    }
}
