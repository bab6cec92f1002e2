import StateSurface

/// Evidence that a session was live and open to somebody at the time of asking. Only the checks in this file make one,
/// so whatever takes a permit cannot be reached without them.
package struct Permit: Sendable, Equatable {
    private let entry: SessionView.Entry

    package var sessionID: String { self.entry.id }
    package var state: SessionState { SessionState(self.entry.state) }
    /// The owner; both nil while the session is anonymous.
    package var tenantID: String? { self.entry.tenantID }
    package var userID: String? { self.entry.userID }
    /// The session's epoch. A session with a higher one has outgrown this permit.
    package var epoch: Int64 { self.entry.epoch }
    package var familyID: String? { self.entry.familyID }
    /// When the session ends at the latest, however much it is used.
    package var absoluteExpiresAt: Milliseconds { self.entry.absoluteExpiresAt }

    fileprivate init(_ entry: SessionView.Entry) { self.entry = entry }

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
package enum Admission: Sendable {
    case granted(Permit)
    case askStore
}

/// The checks. Pure: a session as it is known, who asks, and the time.
enum Admit {
    /// A live, authenticated session, to its owner.
    static func owner(_ owner: SessionOwner, to entry: SessionView.Entry?, now: Milliseconds) -> Permit? {
        guard let entry, entry.state == .authenticated, entry.isLive(at: now),
            entry.isOwned(by: owner)
        else { return nil }
        return Permit(entry)
    }

    /// A live session, to whoever holds its current secret.
    static func bearer(ofSecret hash: [UInt8], to entry: SessionView.Entry?, now: Milliseconds) -> Permit? {
        guard let entry, SessionProof.equal(entry.secretHash, hash), entry.isLive(at: now) else { return nil }
        return Permit(entry)
    }

    /// A permit once more, if the session still is what it was made for.
    static func again(_ permit: Permit, to entry: SessionView.Entry?, now: Milliseconds) -> Renewal {
        guard let entry, entry.isLive(at: now), entry.id.utf8.elementsEqual(permit.sessionID.utf8) else {
            return .ended
        }
        return entry.epoch == permit.epoch ? .holds(Permit(entry)) : .outgrown
    }
}

extension SessionView {
    /// Judges from memory whether a session is this user's, live and authenticated. Never waits.
    package func admit(sessionID: String, tenantID: String, userID: String, now: Milliseconds) -> Admission {
        let owner = SessionOwner(tenantID: tenantID, userID: userID)
        return Admit.owner(owner, to: self.entry(id: sessionID), now: now).map(Admission.granted) ?? .askStore
    }

    /// Judges from memory whether this is the current secret of a live session. Never waits.
    package func admit(secretHash: [UInt8], now: Milliseconds) -> Admission {
        Admit.bearer(ofSecret: secretHash, to: self.entry(secretHash: secretHash), now: now)
            .map(Admission.granted) ?? .askStore
    }
}
