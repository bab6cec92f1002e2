import Answers
import Encodings
import Runtime
import SecurityGuard

/// A session that the path names, and the credential that opened it. Made by ``APICall/openNamedSession()`` alone.
package struct OpenedSession: Sendable {
    /// The session, as it was when ``proof`` opened it.
    package let session: SessionSnapshot
    /// What opened it. The Runtime asks for it again when the session is ended.
    let proof: SessionProof
    /// Whether it was the secret of the session cookie, which then has to be cleared with the session.
    let byCookie: Bool
}

extension APICall {
    /// The session of `{id}`, opened by its current secret or its owner's token.
    ///
    /// Without a credential the session is not looked up. With one that doesn't open it, the answer is the same for an
    /// unknown session, for one of another user, and for an old secret.
    ///
    /// - Throws: `credentials_missing`, `credentials_swapped`, `session_mismatch`; `session_ended` and
    ///   `session_expired` to the owner alone.
    func openNamedSession() async throws -> OpenedSession {
        try requireShape(pathID, .sessionID)
        let principal = try principalIfAny()
        let secret = try await presentedSecret()
        guard principal != nil || secret.carrier != nil else { throw Problem(.credentialsMissing) }

        var fault = SessionFault(.mismatch)
        if let principal {
            let proof = SessionProof.owner(tenantID: principal.tenantID, userID: principal.subject)
            switch try await open(proof) {
            case .success(let session):
                note(session)
                return OpenedSession(session: session, proof: proof, byCookie: false)
            case .failure(let refusal): fault = refusal
            }
        }
        if secret.carrier != nil {
            switch try await open(secret.proof) {
            case .success(let session):
                note(session)
                return OpenedSession(session: session, proof: secret.proof, byCookie: secret.carrier == .cookie)
            case .failure(let refusal):
                if refusal.code != .mismatch { fault = refusal }
            }
        }
        // A cookie of another session that has ended counts as none.
        if principal == nil, secret.isDeadCookie, fault.code == .mismatch { throw Problem(.credentialsMissing) }
        throw Problem(fault)
    }

    /// Has the access log name the session that a request has opened, and its owner. The id is cut to the first 12
    /// characters there.
    func note(_ session: SessionSnapshot) {
        AuditContext.request?.note(
            user: session.userID, tenant: session.tenantID,
            session: String(session.id.prefix(SessionAudit.referenceLength)))
    }

    private func open(_ proof: SessionProof) async throws -> Result<SessionSnapshot, SessionFault> {
        guard SessionID.isShaped(pathID.utf8) else { return .failure(SessionFault(.mismatch)) }
        do {
            return .success(try await services.runtime.find(id: pathID, proof: proof))
        } catch let fault as SessionFault {
            return .failure(fault)
        }
    }

    /// The permit for a token's user to use one of their own live sessions.
    ///
    /// - Throws: `session_mismatch`, the same for an unknown session, one that has ended and that of another user.
    package func permit(sessionID: String, for principal: Principal) async throws -> Permit {
        guard SessionID.isShaped(sessionID.utf8) else { throw Problem(.sessionMismatch) }
        let admitted = try await services.runtime.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject)
        switch admitted {
        case .success(let permit):
            AuditContext.request?.note(
                user: permit.userID, tenant: permit.tenantID,
                session: String(permit.sessionID.prefix(SessionAudit.referenceLength)))
            return permit
        case .failure: throw Problem(.sessionMismatch)
        }
    }

    /// Refuses a body that names another user or tenant than the token.
    ///
    /// - Throws: `identity_mismatch`. Members that are absent are not compared.
    func requireIdentity(of principal: Principal, in body: SecurityBody) throws(Problem) {
        let user = try body.string("user_id")
        let tenant = try body.string("tenant_id")
        let isSame =
            (user?.hasSameBytes(as: principal.subject) ?? true)
            && (tenant?.hasSameBytes(as: principal.tenantID) ?? true)
        guard isSame else { throw Problem(.identityMismatch) }
    }
}
