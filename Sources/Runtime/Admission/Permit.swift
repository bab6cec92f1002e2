import StateSurface

/// Proof that a session was live and that the caller had access to it when it was checked. Only the checks in this file
/// can make one, so code that takes a permit cannot be reached without them.
package struct Permit: Sendable, Equatable {
    private let facts: SessionFacts

    /// The session.
    package var sessionID: String { facts.id }
    /// The session's state.
    package var state: SessionState { SessionState(facts.state) }
    /// The owner's tenant; nil while the session is anonymous.
    package var tenantID: String? { facts.tenantID }
    /// The owner's user id; nil while the session is anonymous.
    package var userID: String? { facts.userID }
    /// The session's epoch. The permit is not valid for a higher one.
    package var epoch: Int64 { facts.epoch }
    /// The refresh family that the session is home or guest of.
    package var familyID: String? { facts.familyID }
    /// When the session ends regardless of use.
    package var absoluteExpiresAt: Milliseconds { facts.absoluteExpiresAt }

    fileprivate init(_ facts: SessionFacts) { self.facts = facts }

    package static func == (a: Self, b: Self) -> Bool {
        a.sessionID == b.sessionID && a.state == b.state && a.tenantID == b.tenantID && a.userID == b.userID
            && a.epoch == b.epoch && a.familyID == b.familyID && a.absoluteExpiresAt == b.absoluteExpiresAt
    }
}

/// The result of checking a permit again.
package enum Renewal: Sendable, Equatable {
    /// It is still valid; this is the current permit.
    case holds(Permit)
    /// The session has ended or expired, or does not exist.
    case ended
    /// The session is live in a later epoch, for which the permit is not valid.
    case outgrown
}

/// The result of a check in memory. There is no refusal, because only the store can give that.
package enum RememberedPermit: Sendable {
    case granted(Permit)
    case askStore
}

/// The checks, as functions of the session, the caller and the time.
enum Admit {
    /// A permit for a live, authenticated session, if the caller is its owner.
    static func owner(_ owner: SessionOwner, to entry: SessionView.Entry?, now: Milliseconds) -> Permit? {
        guard let entry, case .authenticated = entry.facts.state, !entry.times.isOver(at: now),
            owner.owns(tenantID: entry.facts.tenantID, userID: entry.facts.userID)
        else { return nil }
        return Permit(entry.facts)
    }

    /// The same for a session in a slot of the table.
    static func owner(_ owner: PackedOwner, to slot: SessionSlot, now: Milliseconds) -> Permit? {
        guard case .authenticated = slot.state, !slot.times.isOver(at: now), slot.isOwned(by: owner),
            let facts = slot.facts?.takeUnretainedValue()
        else { return nil }
        return Permit(facts)
    }

    /// A permit for a live session, if this is the hash of its current secret.
    static func bearer(ofSecret hash: [UInt8], to entry: SessionView.Entry?, now: Milliseconds) -> Permit? {
        guard let entry, SessionProof.equal(entry.facts.secretHash, hash), entry.isLive(at: now) else { return nil }
        return Permit(entry.facts)
    }

    /// Checks a permit again.
    static func recheck(_ permit: Permit, to entry: SessionView.Entry?, now: Milliseconds) -> Renewal {
        guard let entry, entry.isLive(at: now), entry.facts.id.utf8.elementsEqual(permit.sessionID.utf8) else {
            return .ended
        }
        return entry.epoch == permit.epoch ? .holds(Permit(entry.facts)) : .outgrown
    }
}

extension SessionView {
    /// Checks in memory whether a session is live, authenticated and this user's. It does not wait.
    package func admit(sessionID: String, tenantID: String, userID: String, now: Milliseconds) -> RememberedPermit {
        let owner = PackedOwner(SessionOwner(tenantID: tenantID, userID: userID))
        let permit = permit(id: sessionID) { slot in Admit.owner(owner, to: slot, now: now) }
        return permit.map(RememberedPermit.granted) ?? .askStore
    }

    /// Checks in memory whether this is the hash of the current secret of a live session. It does not wait.
    package func admit(secretHash: [UInt8], now: Milliseconds) -> RememberedPermit {
        Admit.bearer(ofSecret: secretHash, to: entry(secretHash: secretHash), now: now)
            .map(RememberedPermit.granted) ?? .askStore
    }
}
