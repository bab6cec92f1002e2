import Encodings
import Runtime
import SecurityGuard
import StateSurface

extension SignInService {
    /// Logs out: ends the session and the families of the credentials, with their access tokens, homes and guests. An
    /// access token without a family is revoked by itself.
    ///
    /// The credentials of the cookie and of a session that has ended are asked only where the others prove nothing, in
    /// which case nothing has been written for these.
    /// - Throws: the store's errors.
    package func logOut(_ proofs: LogoutProofs) async throws -> LoggedOut {
        var loggedOut = try await logOutByTokenOrSession(proofs)
        if !loggedOut.isProved, let hash = proofs.deadSecretHash {
            loggedOut.byDeadSecret = try await fault(ofUnusableSecret: hash).code != .mismatch
        }
        if !loggedOut.isProved, proofs.refreshToken == nil, let cookie = proofs.refreshCookie {
            loggedOut.byRefreshCookie =
                try await logOutByTokenOrSession(LogoutProofs(refreshToken: cookie)).isProved
        }
        return loggedOut
    }

    /// Why a secret opens no live session. Only a caller with a session's last secret is told the exact reason.
    ///
    /// - Parameter hash: SHA-256 of a secret that ``Runtime/current(secretHash:)`` does not find.
    /// - Returns: `ended` or `expired` for the last secret of a session, else `mismatch`.
    /// - Throws: the store's errors.
    package func fault(ofUnusableSecret hash: [UInt8]) async throws -> SessionFault {
        guard let id = try await store.session(secretHash: hash)?.id else { return SessionFault(.mismatch) }
        do {
            _ = try await runtime.find(id: id, proof: .secret(hash: hash))
            return SessionFault(.mismatch)
        } catch let fault as SessionFault {
            return fault
        }
    }

    /// Ends what the access token, the live session and the refresh token name, in one transaction.
    private func logOutByTokenOrSession(_ proofs: LogoutProofs) async throws -> LoggedOut {
        var loggedOut = LoggedOut()
        var refreshFamily: String?
        if let token = proofs.refreshToken {
            // The token of a client is revoked at the endpoint for clients: it does not sign the person out.
            let family = try await securityGuard.family(ofRefreshToken: token)
            refreshFamily = family?.resource == nil ? family?.id : nil
        }
        loggedOut.byRefreshToken = refreshFamily != nil
        let families = [proofs.principal?.familyID, proofs.session?.snapshot.familyID, refreshFamily]
            .compactMap(\.self).reduce(into: [String]()) { ids, id in
                if !ids.contains(where: { $0.hasSameBytes(as: id) }) { ids.append(id) }
            }
        let token = proofs.principal.flatMap { $0.familyID == nil ? $0 : nil }
        guard !families.isEmpty || token != nil || proofs.session != nil else { return loggedOut }

        let ending = proofs.session.map { runtime.ending(sessionID: $0.snapshot.id, proof: $0.proof) }
        let revocation = token.map { securityGuard.revocation(of: $0) }
        let familyEnd = securityGuard.familyEnd()
        let (endings, fault) = try await transact { transaction in
            var endings = Endings(familyEnd)
            for id in families { try endings.endFamily(id, in: transaction) }
            if let revocation { try transaction.revoke(revocation) }
            // If the secret was replaced in the meantime, only its family ends, which has just been done.
            let fault = try ending.flatMap { try endings.end($0, in: transaction) }
            return (endings, fault)
        }
        endings.report(to: securityGuard, runtime)
        if let token, let revocation { securityGuard.report(revocation, of: token) }
        loggedOut.byTokenOrSession = proofs.principal != nil || (proofs.session != nil && fault == nil)
        return loggedOut
    }

    /// Ends a session whose proof was just checked, and its family if the session is the family's home.
    /// - Throws: `SessionFault` `.mismatch` if the proof is no longer valid; the store's errors.
    package func end(_ session: SessionSnapshot, proof: SessionProof) async throws {
        if let fault = try await end(sessionID: session.id, proof: proof, reason: "logout").fault { throw fault }
    }

    /// Ends a session for an operator, without a proof, and its family if the session is the family's home.
    /// - Returns: whether the session was live; nil if there is no such session.
    /// - Throws: the store's errors.
    package func endByOperator(sessionID id: String) async throws -> Bool? {
        let reason = StoreEvent.EndReason.endedByOperator
        let (fault, wasLive) = try await end(sessionID: id, proof: nil, reason: reason, eventReason: reason)
        return fault?.code == .mismatch ? nil : wasLive
    }

    /// Ends a session, and its family if the session is the family's home.
    ///
    /// - Parameters:
    ///   - proof: of the caller; nil for an operator and for the gateway itself, who need none.
    ///   - reason: why the family ends, for the audit log.
    ///   - eventReason: why the sessions end, for the receivers of events; nil where that is the end of the family.
    ///   - protocolSession: what is bound to the session. It ends in the same transaction, also if the session has
    ///     ended before.
    /// - Returns: why it was refused, and whether the session was live.
    func end(
        sessionID id: String, proof: SessionProof?, reason: String, eventReason: String? = nil,
        protocolSession: ProtocolSessionRecord? = nil
    ) async throws -> (fault: SessionFault?, wasLive: Bool) {
        let ending = runtime.ending(sessionID: id, proof: proof)
        let familyEnd = securityGuard.familyEnd()
        let (endings, fault, wasLive) = try await transact { transaction -> (Endings, SessionFault?, Bool) in
            var endings = Endings(familyEnd)
            transaction.setEndReason(eventReason)
            let (fault, wasLive) = try end(ending, reason: reason, &endings, in: transaction)
            // After the family, which is locked before what ends with it.
            if let protocolSession { try transaction.end(protocolSession: protocolSession) }
            return (endings, fault, wasLive)
        }
        endings.report(to: securityGuard, runtime)
        return (fault, wasLive)
    }

    private func end(
        _ ending: SessionChange, reason: String, _ endings: inout Endings, in transaction: any StoreTransaction
    ) throws -> (fault: SessionFault?, wasLive: Bool) {
        // A sign-in may have given the session another family since it was looked up.
        let familyID: String?
        var wasLive = false
        switch try ending.decide(in: transaction) {
        case .write(let write):
            familyID = write.before?.familyID
            wasLive = true
        case .leave(let snapshot): familyID = snapshot.familyID
        case .refuse(let refusal):
            endings.note(refusal)
            return (refusal.fault, false)
        }
        // The family is written first: rows are locked in one order everywhere.
        let family = try familyID.flatMap { try transaction.family(id: $0) }
        let isHome = family?.isLive == true && family?.binding?.hasSameBytes(as: ending.sessionID) == true
        if let family, isHome { try endings.endFamily(family.id, reason: reason, in: transaction) }
        return (try endings.end(ending, in: transaction), wasLive)
    }

    /// Revokes a token of any kind (RFC 7009) if `client` may revoke it. All other tokens are ignored, without an
    /// error.
    package func revoke(presented text: String, by client: ClientRecord) async throws {
        switch try await securityGuard.revocable(presented: text, by: client) {
        case nil: return
        case .family(let id):
            let familyEnd = securityGuard.familyEnd()
            let sessionIDs = try await transact { try familyEnd.end(id, in: $0) }
            securityGuard.report(endOfFamily: id, familyEnd, reason: "revoked_by_client")
            runtime.noteEnded(sessionIDs, reason: "family_ended")
        case .accessToken(let principal):
            let revocation = securityGuard.revocation(of: principal)
            try await transact { try $0.revoke(revocation) }
            securityGuard.report(revocation, of: principal)
        }
    }
}
