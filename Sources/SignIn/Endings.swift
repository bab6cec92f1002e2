import Runtime
import SecurityGuard
import StateSurface

/// The families and sessions that a transaction has ended, collected inside it and reported once it is durable.
struct Endings: Sendable {
    private var families: [(id: String, reason: String, sessionIDs: [String])] = []
    private var sessions: [(write: SessionWrite, reason: String)] = []
    private var refusals: [SessionRefusal] = []
    private let familyEnd: FamilyEnd

    init(_ familyEnd: FamilyEnd) {
        self.familyEnd = familyEnd
    }

    /// Ends a family with its home and guests.
    mutating func endFamily(
        _ id: String, reason: String = "logout", in transaction: any StoreTransaction
    ) throws {
        families.append((id, reason, try familyEnd.end(id, in: transaction)))
    }

    /// Ends one session.
    /// - Parameter reason: the reason for a separate line in the audit log; empty for none.
    /// - Returns: why it was refused; nil if it has ended now or before.
    mutating func end(
        _ change: SessionChange, reason: String = "", in transaction: any StoreTransaction
    ) throws -> SessionFault? {
        switch try change.decide(in: transaction) {
        case .leave: return nil
        case .refuse(let refusal):
            refusals.append(refusal)
            return refusal.fault
        case .write(let write):
            if !reason.isEmpty { transaction.setEndReason(reason) }
            try write.write(in: transaction)
            if !reason.isEmpty { transaction.setEndReason(nil) }
            sessions.append((write, reason))
            return nil
        }
    }

    /// Ends sessions over the user's limit: a home session with its family, a guest by itself.
    mutating func end(
        _ surplus: [SurplusSession], _ runtime: Runtime, in transaction: any StoreTransaction
    ) throws {
        for session in surplus {
            if let familyID = session.homeOf {
                try endFamily(familyID, in: transaction)
            } else {
                let change = runtime.ending(sessionID: session.id, proof: nil)
                _ = try end(change, reason: "too_many_sessions", in: transaction)
            }
        }
    }

    /// Records that a session was found to have expired.
    mutating func note(_ refusal: SessionRefusal) { refusals.append(refusal) }

    /// The ids of the sessions that ended with a family.
    var sessionIDsOfFamilies: [String] { families.flatMap(\.sessionIDs) }

    /// Reports them to the audit log and to the caches of this node.
    func report(to securityGuard: SecurityGuard, _ runtime: Runtime) {
        for family in families {
            securityGuard.report(endOfFamily: family.id, familyEnd, reason: family.reason)
            runtime.noteEnded(family.sessionIDs, reason: "family_ended")
        }
        for refusal in refusals { runtime.report(refusal) }
        for session in sessions {
            runtime.report(session.write)
            if !session.reason.isEmpty {
                runtime.note(.ended, sessionID: session.write.session.id, reason: session.reason)
            }
        }
    }
}
