import Encodings
import Runtime
import SecurityGuard
import StateSurface

extension SignInService {
    /// Ends a session for an operator, without a proof, and its family if the session is the family's home.
    /// - Returns: whether the session was live; nil if there is no such session.
    /// - Throws: the store's errors.
    package func endByOperator(sessionID id: String) async throws -> Bool? {
        sessionEnding(id)
        let ending = runtime.ending(sessionID: id, proof: nil)
        let familyEnd = securityGuard.familyEnd()
        let (endings, wasLive) = try await transact { transaction -> (Endings, Bool?) in
            var endings = Endings(familyEnd)
            let familyID: String?
            var wasLive = false
            switch try ending.decide(in: transaction) {
            case .write(let write):
                familyID = write.before?.familyID
                wasLive = true
            case .leave(let snapshot): familyID = snapshot.familyID
            case .refuse(let refusal):
                endings.note(refusal)
                return (endings, refusal.fault.code == .mismatch ? nil : false)
            }
            // The family is written first: rows are locked in one order everywhere.
            let family = try familyID.flatMap { try transaction.family(id: $0) }
            let isHome = family?.isLive == true && family?.binding?.hasSameBytes(as: id) == true
            if let family, isHome {
                try endings.endFamily(family.id, reason: "ended_by_operator", in: transaction)
            }
            _ = try endings.end(ending, in: transaction)
            return (endings, wasLive)
        }
        endings.report(to: securityGuard, runtime)
        return wasLive
    }
}
