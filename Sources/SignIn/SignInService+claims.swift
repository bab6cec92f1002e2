import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

extension SignInService {
    /// Creates a session for a token's user, or makes the user the owner of an anonymous one. The session is a guest of
    /// the token's family.
    ///
    /// - Parameters:
    ///   - intent: of kind `authenticated` or `upgrade`.
    ///   - secretHash: for an upgrade, SHA-256 of the session's current secret, or of the previous one within its
    ///     grace.
    /// - Throws: `SessionFault`; `Denial`; ``SignInFault`` `.tokenRevoked`; the store's errors.
    package func open(
        _ intent: SessionIntent, secretHash: [UInt8] = [], with principal: Principal
    ) async throws -> IssuedSession {
        let contract = try trafficCop.prepare(intent).get()
        let opening = try runtime.prepare(
            contract, for: intent, secretHash: secretHash, familyID: principal.familyID)
        let issued = try await runtime.open(opening)
        try await confirm(issued, for: principal)
        try await makeRoom(besides: issued.session)
        return issued
    }

    /// Ends the session again if its token was revoked in the meantime: the revocation may have looked for the token's
    /// sessions just before this one was written.
    private func confirm(_ issued: IssuedSession, for principal: Principal) async throws {
        guard securityGuard.isRevoked(principal) else { return }
        do {
            _ = try await runtime.end(id: issued.session.id, proof: .secret(hash: issued.secret.hash))
        } catch is SessionFault {
            // The secret has changed: the owner has opened the session again with another token, which is checked
            // separately.
        }
        throw SignInFault(.tokenRevoked, reason: "revoked_meanwhile")
    }

    /// Ends the user's sessions over `sessions.per_user`, now that this one is theirs: guests first, then homes with
    /// their families, and among these the longest unused.
    private func makeRoom(besides session: SessionSnapshot) async throws {
        guard let userID = session.userID else { return }
        let limit = runtime.policy.perUser
        // Checked outside a transaction first, because few users have too many.
        guard try await !store.surplusSessions(userID: userID, sparing: session.id, limit: limit).isEmpty else {
            return
        }
        let familyEnd = securityGuard.familyEnd()
        let endings = try await transact { transaction in
            var endings = Endings(familyEnd)
            let surplus = try transaction.surplusSessions(userID: userID, sparing: session.id, limit: limit)
            try endings.end(surplus, runtime, in: transaction)
            return endings
        }
        endings.report(to: securityGuard, runtime)
    }
}
