import StateSurface
import TrafficCop

extension Runtime {
    // MARK: Preparing

    /// Prepares to make a session, or to give an existing one to its owner: same id, new secret.
    ///
    /// The intent's kind says which: `anonymous`, `authenticated` and, for a session that exists, `upgrade` (it gets its
    /// owner, or the owner repeats that) or `resume` (its owner has signed in anew: next epoch, new family).
    /// - Parameters:
    ///   - secretHash: for a session that exists, SHA-256 of its current secret, or of the one before within its seconds
    ///     of grace.
    ///   - familyID: the family that opens it. A repeated upgrade leaves the session's family alone.
    ///   - expectedEpoch: where the session stood when the caller began. A login gives it, so that the loser of a race is
    ///     told of the conflict; without it, an upgrade by the same owner counts as a repeat.
    /// - Throws: ``Denial`` for a contract that is not this intent's; ``SessionFault`` `.invalidMetadata`.
    package func prepare(
        _ contract: ExecutionContract, for intent: SessionIntent, secretHash: [UInt8] = [], familyID: String? = nil,
        expectedEpoch: Int64? = nil
    ) throws -> SessionOpening {
        // Traffic Cop's primitives stand before everything that makes a session or gives it away.
        let intent = try cop.validate(contract, for: intent).get().intent
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

    /// Prepares to end a session: for a caller who proves to have a right to it, or, without a proof, because the gateway
    /// says so.
    package func ending(sessionID: String, proof: SessionProof?) -> SessionChange {
        SessionChange(sessionID: sessionID, kind: .event(.end(proof)), keeper: keeper, audit: .ended)
    }

    /// Prepares to look at a session together with a write of something else. A session that is found past its end is
    /// marked so.
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

    // MARK: Afterwards

    /// Tells the audit log of a change that is durable.
    package func report(_ write: SessionWrite) {
        if write.after.state == .expired, write.before?.state != .expired { return keeper.expired(write.after) }
        guard var name = write.audit else { return }
        if name == .upgraded, write.before?.epoch == write.after.epoch { name = .repeated }
        audit(SessionAudit(name, SessionSnapshot(write.after)))
    }

    /// Notes a use of a session.
    /// - Returns: the session as that use leaves it.
    package func use(_ session: SessionSnapshot) -> SessionSnapshot {
        noteUse(session.id)
        return session.used(at: clock())
    }

    /// Tells the audit log of a session that was found past its end.
    package func report(_ refusal: SessionRefusal) {
        if let expired = refusal.expired { keeper.expired(expired) }
    }

    /// The session that was opened and its secret, to be handed out once.
    package func issued(_ opening: SessionOpening, _ write: SessionWrite) -> IssuedSession {
        report(write)
        return IssuedSession(session: write.session, secret: opening.secret)
    }

    // MARK: In a transaction of its own

    /// Writes an opening that nothing else has to be written with.
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
