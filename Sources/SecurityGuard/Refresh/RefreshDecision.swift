import Libcrypto
import StateSurface

/// What has to happen to a refresh token that was presented. Pure: the family as it lies in the store, and the time.
enum RefreshDecision: Equatable, Sendable {
    /// It is the current one: replace it.
    case rotate
    /// It is the one before an unused successor, within the grace: the answer was lost, or two tabs asked at once.
    case `repeat`
    /// It was used before: someone else has a copy. The family has to end.
    case reuse
    /// It is worth nothing, and nothing has to happen because of it.
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
        if let clientID, !sameBytes(clientID, family.clientID) { return .refuse(.foreignClient) }
        if position == family.counter {
            return ConstantTime.equal(family.currentHash, presented) ? .rotate : .reuse
        }
        guard position == family.counter - 1, let previous = family.previousHash, family.successorSalt != nil,
            ConstantTime.equal(previous, presented), let rotatedAt = family.rotatedAt
        else { return .reuse }
        // Bounded on both sides: two nodes' clocks differ a little, but a clock set back by much is no grace.
        let age = now.subtractingReportingOverflow(rotatedAt)
        return !age.overflow && abs(age.partialValue) <= grace ? .repeat : .reuse
    }
}
