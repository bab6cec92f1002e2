import Answers
import Runtime
import SecurityGuard

/// A session that the path names, and the credential that opened it. Made by ``APICall/openNamedSession(by:)`` alone.
package struct OpenedSession: Sendable {
    /// The session, as it was when ``proof`` opened it.
    package let session: SessionSnapshot
    /// What opened it. The Runtime asks for it again when the session is ended.
    let proof: SessionProof
    /// Whether it was the secret of the session cookie, which then has to be cleared with the session.
    let byCookie: Bool
}

/// The live session of a request's secret. Made by ``APICall/openPresentedSession()`` alone.
package struct SessionOfSecret: Sendable {
    /// The session, as it was when it was looked up.
    let session: SessionSnapshot
    /// The secret.
    let secret: PresentedSecret
    /// The secret's hash.
    let hash: [UInt8]
}

extension APICall {
    /// The live session of the presented secret.
    ///
    /// - Throws: `credentials_missing` without a secret that counts; `session_mismatch`, or `session_ended` and
    ///   `session_expired` to the last secret of a session.
    func openPresentedSession() async throws -> SessionOfSecret {
        let secret = try await presentedSecret()
        guard secret.counts else { throw Problem(.credentialsMissing) }
        guard let session = secret.session, let hash = secret.hash else {
            throw Problem(try await fault(ofUnusable: secret))
        }
        return SessionOfSecret(session: session, secret: secret, hash: hash)
    }

    /// The session of `{id}`, opened by its current secret or its owner's token.
    ///
    /// Without a credential the session is not looked up. With one that doesn't open it, the answer is the same for an
    /// unknown session, for one of another user, and for an old secret.
    ///
    /// - Parameter principal: the owner of the request's token, if it has one.
    /// - Throws: `credentials_missing`, `session_mismatch`; `session_ended` and `session_expired` to the owner alone.
    func openNamedSession(by principal: Principal?) async throws -> OpenedSession {
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
}
