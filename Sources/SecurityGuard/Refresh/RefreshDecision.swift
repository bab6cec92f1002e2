import Libcrypto
import StateSurface

/// The decision on a presented refresh token, from the stored family and the time.
enum RefreshDecision: Equatable, Sendable {
    /// It is the current token and is replaced.
    case rotate
    /// It is the previous token, its successor has not been used, and the grace is not over: an answer was lost, or two
    /// tabs refreshed at the same time.
    case `repeat`
    /// It was used before, so it has probably been stolen. The family must end.
    case reuse
    /// It is not accepted, without further consequences.
    case refuse(Reason)

    enum Reason: String, Sendable {
        case unknown = "refresh_unknown"
        case ended = "family_ended"
        case expired = "family_expired"
        case foreignClient = "client_mismatch"
        case account = "account_unusable"
        case contended = "refresh_contended"
        case reused = "refresh_reused"
    }

    static func decide(
        _ family: FamilyRecord, position: Int64, presented: [UInt8], clientID: String?, grace: Int64, now: Int64
    ) -> RefreshDecision {
        guard family.isLive else { return .refuse(.ended) }
        guard now < family.absoluteExpiresAt else { return .refuse(.expired) }
        // A token for a resource belongs to a client, which has to be named.
        if let clientID {
            guard sameBytes(clientID, family.clientID) else { return .refuse(.foreignClient) }
        } else if family.resource != nil {
            return .refuse(.foreignClient)
        }
        if position == family.counter {
            return ConstantTime.equal(family.currentHash, presented) ? .rotate : .reuse
        }
        guard position == family.counter - 1, let previous = family.previousHash, family.successorSalt != nil,
            ConstantTime.equal(previous, presented), let rotatedAt = family.rotatedAt
        else { return .reuse }
        // Limited in both directions: clocks of nodes differ slightly, but a clock that is set back far must not extend
        // the grace.
        let age = now.subtractingReportingOverflow(rotatedAt)
        return !age.overflow && age.partialValue.magnitude <= grace.magnitude ? .repeat : .reuse
    }
}
