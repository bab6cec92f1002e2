import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

extension SignInService {
    /// Creates a session for a token's user, or makes the user the owner of an anonymous one. The session is a guest of
    /// the token's family. In the same transaction the user's sessions over `sessions.per_user` end: guests first, then
    /// homes with their families, and among these the longest unused.
    ///
    /// - Parameters:
    ///   - intent: of kind `authenticated` or `upgrade`.
    ///   - secretHash: for an upgrade, SHA-256 of the session's current secret, or of the previous one within its
    ///     grace.
    /// - Throws: `SessionFault`; `Denial`; ``SignInFault`` `.tokenRevoked`; `StateSurfaceError.ownerGone` if the token's
    ///   family has ended or its user was disabled; the store's errors.
    package func open(
        _ intent: SessionIntent, secretHash: [UInt8] = [], with principal: Principal
    ) async throws -> IssuedSession {
        let contract = try trafficCop.prepare(intent).get()
        let opening = try runtime.prepare(
            contract, for: intent, secretHash: secretHash, familyID: principal.familyID)
        let familyEnd = securityGuard.familyEnd()
        let outcome = try await transact { transaction -> Opened in
            let write: SessionWrite
            switch try opening.change.decide(in: transaction) {
            case .refuse(let refusal): return .refused(refusal)
            case .leave: return .refused(SessionRefusal(.conflict))
            case .write(let decided): write = decided
            }
            // Locks the user and the family: an end of either waits and then ends this session as well.
            try write.write(in: transaction)
            var endings = Endings(familyEnd)
            if let userID = write.session.userID {
                // Not the home of the token that opens this one: it would end with it.
                let surplus = try transaction.surplusSessions(
                    userID: userID, sparing: opening.sessionID, limit: runtime.sessionsPerUser
                ).filter { $0.homeOf == nil || $0.homeOf != principal.familyID }
                try endings.end(surplus, runtime, in: transaction)
            }
            // The token was judged before it waited for its turn. Revoking a token alone ends no session, so nothing is
            // missed that is revoked from here on: it counts as revoked after the session was opened.
            guard !securityGuard.isRevoked(principal) else {
                throw SignInFault(.tokenRevoked, reason: "revoked_meanwhile")
            }
            return .written(write, endings)
        }
        switch outcome {
        case .refused(let refusal):
            runtime.report(refusal)
            throw refusal.fault
        case .written(let write, let endings):
            let issued = runtime.issued(opening, write)
            endings.report(to: securityGuard, runtime)
            return issued
        }
    }

    private enum Opened: Sendable {
        case written(SessionWrite, Endings)
        case refused(SessionRefusal)
    }
}
