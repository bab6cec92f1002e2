import Encodings
import Runtime
import SecurityGuard
import StateSurface

extension SignInService {
    /// The reason of a refusal whose family was ended because its home session is no more.
    private static let deadHome = "home_session_dead"

    /// Uses a refresh token. That counts as use of the home session; a family whose home is no more is ended instead.
    ///
    /// - Parameter clientID: where it is given, only a family of that client is served.
    /// - Throws: ``SignInFault`` `.invalidGrant`, the same whatever is wrong with the token; the store's errors.
    package func refresh(_ refreshToken: String, clientID: String? = nil) async throws -> Refreshed {
        var home: SessionSnapshot?
        var familyEndsAt: Int64 = 0
        let outcome = try await securityGuard.refresh(refreshToken, clientID: clientID) { write in
            familyEndsAt = write.absoluteExpiresAt
            switch try await commit(write) {
            case .done(let session):
                home = session
                return .done
            case .lost:
                return .lost
            case .ended(let endings):
                endings.report(to: securityGuard, runtime)
                return .ended(
                    RefreshRefusal(
                        reason: Self.deadHome, endedFamily: write.familyID,
                        endedSessions: endings.sessionIDsOfFamilies))
            }
        }
        switch outcome {
        case .rotated(let tokens), .repeated(let tokens):
            return Refreshed(tokens: tokens, home: home.map(runtime.use), familyEndsAt: familyEndsAt)
        case .refused(let refusal):
            // Those of a dead home have been told of already.
            if refusal.reason != Self.deadHome {
                runtime.noteEnded(refusal.endedSessions, reason: refusal.reason)
            }
            throw SignInFault(.invalidGrant, reason: refusal.reason)
        }
    }

    private enum Commit: Sendable {
        case done(SessionSnapshot?)
        case lost
        case ended(Endings)
    }

    /// Writes a refresh, if the family still has a live home.
    private func commit(_ write: RefreshWrite) async throws -> Commit {
        guard let binding = write.binding else {
            return try await transact { try write.write(in: $0) ? .done(nil) : .lost }
        }
        let reading = runtime.reading(
            sessionID: binding, proof: .owner(tenantID: write.tenantID, userID: write.userID))
        let familyEnd = securityGuard.familyEnd()
        return try await transact { transaction in
            var endings = Endings(familyEnd)
            switch try reading.decide(in: transaction) {
            case .leave(let home) where home.familyID?.hasSameBytes(as: write.familyID) == true:
                return try write.write(in: transaction) ? .done(home) : .lost
            case .refuse(let refusal): endings.note(refusal)
            case .leave, .write: break
            }
            try endings.endFamily(write.familyID, in: transaction)
            return .ended(endings)
        }
    }
}
