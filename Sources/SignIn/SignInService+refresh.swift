import Encodings
import Runtime
import SecurityGuard
import StateSurface

extension SignInService {
    /// The reason of a refusal after which the family ends because its home session has ended.
    private static let deadHome = "home_session_dead"

    /// Uses a refresh token, which counts as use of the home session. If the home session has ended, the family is
    /// ended as well.
    ///
    /// - Parameters:
    ///   - clientID: if given, only a family of that client is accepted; if not, none that is for a resource.
    ///   - terms: what is asked of the new access token. It is judged by the family that is written, before the token
    ///     is used up.
    /// - Throws: ``SignInFault`` `.invalidGrant` for any fault of the token; `OAuthFault` for terms that are not the
    ///   family's; the store's errors.
    package func refresh(
        _ refreshToken: String, clientID: String? = nil, terms: RefreshTerms = RefreshTerms()
    ) async throws -> Refreshed {
        var home: SessionSnapshot?
        var familyEndsAt: Int64 = 0
        let outcome = try await securityGuard.refresh(
            refreshToken, clientID: clientID, narrowing: terms.narrowing, judging: terms.check
        ) { write in
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
            // The sessions of an ended home have been reported already.
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

    /// Writes a refresh if the family's home session is live.
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
            case .leave(let home)
            where write.isGrant || home.familyID?.hasSameBytes(as: write.familyID) == true:
                return try write.write(in: transaction) ? .done(home) : .lost
            case .refuse(let refusal):
                endings.note(refusal)
                // A home that has just been found to have expired has ended its family.
                if refusal.endedFamilyIDs.contains(where: { $0.hasSameBytes(as: write.familyID) }) {
                    return .ended(endings)
                }
            case .leave, .write: break
            }
            try endings.endFamily(write.familyID, in: transaction)
            return .ended(endings)
        }
    }
}
