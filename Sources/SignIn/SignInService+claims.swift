import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

extension SignInService {
    /// Creates a session without an owner, within the limit of its address.
    /// - Parameter metadata: a JSON object as text.
    /// - Throws: `Denial`; `SessionFault` `.invalidMetadata`; the store's errors.
    package func openAnonymous(clientAddress: String, metadata: String = "{}") async throws -> IssuedSession {
        let intent = SessionIntent(kind: .anonymous, clientAddress: clientAddress, metadata: metadata)
        let contract = try trafficCop.prepare(intent).get()
        return try await runtime.open(runtime.prepare(contract, for: intent))
    }

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
        let opening = try prepare(intent, secretHash: secretHash, with: principal)
        let familyEnd = securityGuard.familyEnd()
        let outcome = try await transact { try open(opening, with: principal, familyEnd, in: $0) }
        return try issued(opening, outcome)
    }

    /// Extends what was opened in a session by an older token of the same issuer and subject, on every node. Has no
    /// effect for the gateway's own tokens, which a refresh extends.
    /// - Throws: the store's errors.
    package func extend(sessionID: String, by principal: Principal) async throws {
        guard let foreign = principal.foreign else { return }
        try await store.report(
            extensionOf: sessionID, origin: foreign.origin, tokenExpiresAt: principal.expiresAt)
    }

    /// Has Traffic Cop decide on the intent, and prepares the session that it opens.
    func prepare(
        _ intent: SessionIntent, secretHash: [UInt8] = [], with principal: Principal
    ) throws -> SessionOpening {
        let contract = try trafficCop.prepare(intent).get()
        return try runtime.prepare(contract, for: intent, secretHash: secretHash, familyID: principal.familyID)
    }

    /// Opens a session inside a transaction. If it is refused, the transaction is committed all the same.
    func open(
        _ opening: SessionOpening, with principal: Principal, _ familyEnd: FamilyEnd,
        in transaction: any StoreTransaction
    ) throws -> Opened {
        if let userID = opening.userID {
            try transaction.takeTurnToOpenSession(of: userID, limit: runtime.sessionsPerUser)
        }
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

    /// The session that was opened, once the transaction is durable.
    /// - Throws: why it was refused.
    func issued(_ opening: SessionOpening, _ outcome: Opened) throws -> IssuedSession {
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

    /// What has become of a session that a transaction was to open.
    enum Opened: Sendable {
        case written(SessionWrite, Endings)
        case refused(SessionRefusal)
    }
}
