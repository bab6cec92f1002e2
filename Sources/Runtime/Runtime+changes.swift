import StateSurface
import TrafficCop

extension Runtime {
    // MARK: Preparing

    /// Prepares to create a session, or to give an existing one to its owner with the same id and a new secret.
    ///
    /// The kind of the intent decides: `anonymous` and `authenticated` create a session; `upgrade` sets the owner of an
    /// existing one, or repeats that; `resume` is a new sign-in of its owner, with the next epoch and a new family.
    /// - Parameters:
    ///   - secretHash: for an existing session, SHA-256 of its current secret, or of the previous one within its grace.
    ///   - familyID: the family that opens it. A repeated upgrade does not change the session's family.
    ///   - expectedEpoch: the session's epoch when the caller looked it up. Logins give it, so that the slower of two
    ///     gets a conflict. Without it, an upgrade by the same owner counts as a repetition.
    /// - Throws: ``Denial`` if the contract is not valid for this intent; ``SessionFault`` `.invalidMetadata`.
    package func prepare(
        _ contract: ExecutionContract, for intent: SessionIntent, secretHash: [UInt8] = [], familyID: String? = nil,
        expectedEpoch: Int64? = nil
    ) throws -> SessionOpening {
        // Traffic Cop checks everything that creates a session or sets its owner.
        let intent = try trafficCop.validate(contract, for: intent).get().intent
        let secret = SessionSecret()
        switch intent.kind {
        case .anonymous:
            let record = try record(
                of: intent, secret, idle: policy.anonymousIdle, lifetime: policy.anonymousLifetime, familyID: nil)
            return opening(record.id, .create(record), secret, .created)
        case .authenticated:
            let record = try record(
                of: intent, secret, idle: policy.idle, lifetime: policy.lifetime, familyID: familyID)
            return opening(record.id, .create(record), secret, .created)
        case .upgrade, .resume:
            guard let id = intent.sessionID, let tenantID = intent.tenantID, let userID = intent.userID else {
                throw Denial(.contractMismatch)
            }
            let claim = SessionClaim(
                owner: SessionOwner(tenantID: tenantID, userID: userID), presentedHash: secretHash,
                newHash: secret.hash, familyID: familyID, expectedEpoch: expectedEpoch, metadata: intent.metadata)
            let isResume = intent.kind == .resume
            return opening(
                id, .event(isResume ? .resume(claim) : .upgrade(claim)), secret, isResume ? .resumed : .upgraded)
        }
    }

    /// Prepares to end a session, for a caller with a proof, or for the gateway itself without one.
    package func ending(sessionID: String, proof: SessionProof?) -> SessionChange {
        SessionChange(sessionID: sessionID, kind: .event(.end(proof)), keeper: keeper, audit: .ended)
    }

    /// Prepares to read a session in the same transaction as another write. If it has expired, it is marked so.
    package func reading(sessionID: String, proof: SessionProof) -> SessionChange {
        SessionChange(sessionID: sessionID, kind: .event(.read(proof)), keeper: keeper, audit: nil)
    }

    private func opening(
        _ id: String, _ kind: SessionChange.Kind, _ secret: SessionSecret, _ audit: SessionAudit.Name
    ) -> SessionOpening {
        SessionOpening(change: SessionChange(sessionID: id, kind: kind, keeper: keeper, audit: audit), secret: secret)
    }

    private func record(
        of intent: SessionIntent, _ secret: SessionSecret, idle: Milliseconds, lifetime: Milliseconds,
        familyID: String?
    ) throws -> SessionRecord {
        let now = clock()
        return SessionRecord(
            id: SessionID.make(), state: intent.userID == nil ? .anonymous : .authenticated,
            tenantID: intent.tenantID, userID: intent.userID, createdAt: now, lastSeenAt: now, idleTimeout: idle,
            absoluteExpiresAt: SessionLifecycle.saturating(now, plus: lifetime), secretHash: secret.hash,
            familyID: familyID,
            metadata: try SessionMetadata.merge(intent.metadata, into: "{}", limit: policy.metadataLimit))
    }

    // MARK: After the transaction

    /// Records a durable change in the audit log.
    package func report(_ write: SessionWrite) {
        if write.after.state == .expired, write.before?.state != .expired { return keeper.expired(write.after, []) }
        guard var name = write.audit else { return }
        if name == .upgraded, write.before?.epoch == write.after.epoch { name = .repeated }
        audit(SessionAudit(name, SessionSnapshot(write.after)))
    }

    /// Records a use of a session.
    /// - Returns: the session after the use.
    package func use(_ session: SessionSnapshot) -> SessionSnapshot {
        noteUse(session.id)
        return session.used(at: clock())
    }

    /// Records in the audit log that a session was found to have expired, and what ended with it.
    package func report(_ refusal: SessionRefusal) {
        if let expired = refusal.expired { keeper.expired(expired, refusal.families) }
    }

    /// The session that was opened and its secret, which is returned only here.
    package func issued(_ opening: SessionOpening, _ write: SessionWrite) -> IssuedSession {
        report(write)
        return IssuedSession(session: write.session, secret: opening.secret)
    }

    // MARK: In a separate transaction

    /// Writes an opening in a transaction of its own.
    /// - Throws: ``SessionFault`` `.conflict`, `.mismatch` or `.invalidMetadata`; the store's errors.
    package func open(_ opening: SessionOpening) async throws -> IssuedSession {
        switch opening.change.kind {
        case .create(let record):
            try await store.insert(session: record)
            return issued(opening, SessionWrite(before: nil, after: record, audit: opening.change.audit))
        case .event(let event):
            let (before, after) = try await keeper.apply(event, to: opening.sessionID)
            return issued(opening, SessionWrite(before: before, after: after, audit: opening.change.audit))
        }
    }
}
