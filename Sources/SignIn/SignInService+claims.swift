import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

extension SignInService {
    /// Makes a session for a token's user, or gives the user an anonymous one: a guest of the token's family.
    ///
    /// - Parameters:
    ///   - intent: of kind `authenticated` or `upgrade`.
    ///   - secretHash: for an upgrade, SHA-256 of the session's current secret, or of the one before within its grace.
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

    /// Takes back a session that was opened with a token that was revoked meanwhile: the one who ended the token may have
    /// looked for its sessions just before this one was written.
    private func confirm(_ issued: IssuedSession, for principal: Principal) async throws {
        guard securityGuard.isRevoked(principal) else { return }
        do {
            _ = try await runtime.end(id: issued.session.id, proof: .secret(hash: issued.secret.hash))
        } catch is SessionFault {
            // It has another secret by now: its owner has claimed it again, with a token that is judged for itself.
        }
        throw SignInFault(.tokenRevoked, reason: "revoked_meanwhile")
    }

    /// Ends what a user has beyond `sessions.per_user` since this session is theirs: guests first, then homes with their
    /// families, of each the longest unused.
    private func makeRoom(besides session: SessionSnapshot) async throws {
        guard let userID = session.userID else { return }
        let limit = runtime.policy.perUser
        // Asked outside a transaction first: hardly anyone has too many.
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
