import Encodings
import StateSurface
import TrafficCop

extension Runtime {
    // MARK: Coming to be

    /// A new session without an owner.
    package func createAnonymous(
        _ contract: ExecutionContract, for intent: SessionIntent
    ) async throws -> IssuedSession {
        let intent = try self.validate(contract, for: intent, kind: .anonymous)
        return try await self.create(
            intent, idle: self.policy.anonymousIdle, lifetime: self.policy.anonymousLifetime, familyID: nil)
    }

    /// A new session of the user that the intent names.
    package func createAuthenticated(
        _ contract: ExecutionContract, for intent: SessionIntent, familyID: String?
    ) async throws -> IssuedSession {
        let intent = try self.validate(contract, for: intent, kind: .authenticated)
        return try await self.create(
            intent, idle: self.policy.idle, lifetime: self.policy.lifetime, familyID: familyID)
    }

    /// Gives an anonymous session its owner, or repeats that for the same owner: same id, new secret.
    ///
    /// - Parameters:
    ///   - secretHash: SHA-256 of the session's current secret, or of the one before within its seconds of grace.
    ///   - familyID: the family of the token it is upgraded with. A repeat leaves the session's family alone.
    ///   - expectedEpoch: where the session stood when the caller began. A login gives it, so that the loser of a race
    ///     is told of the conflict; without it, an upgrade by the same owner counts as a repeat.
    /// - Throws: ``SessionFault`` `.conflict`, `.mismatch` or `.invalidMetadata`; ``Denial``; the store's errors.
    package func upgrade(
        _ contract: ExecutionContract, for intent: SessionIntent, secretHash: [UInt8], familyID: String?,
        expectedEpoch: Int64? = nil
    ) async throws -> IssuedSession {
        let intent = try self.validate(contract, for: intent, kind: .upgrade)
        return try await self.claim(
            intent, secretHash: secretHash, familyID: familyID, expectedEpoch: expectedEpoch
        ) { .upgrade($0) }
    }

    /// The owner has logged in again on a session of theirs: same id, new secret, next epoch, new family.
    ///
    /// The family is the new one when this returns, so ending ``IssuedSession/previousFamilyID`` leaves it alive.
    package func resume(
        _ contract: ExecutionContract, for intent: SessionIntent, secretHash: [UInt8], familyID: String?,
        expectedEpoch: Int64? = nil
    ) async throws -> IssuedSession {
        let intent = try self.validate(contract, for: intent, kind: .resume)
        return try await self.claim(
            intent, secretHash: secretHash, familyID: familyID, expectedEpoch: expectedEpoch
        ) { .resume($0) }
    }

    // MARK: Being asked for

    /// The live session whose current secret this is.
    package func current(secretHash: [UInt8]) async throws -> SessionSnapshot? {
        guard let record = try await self.keeper.current(secretHash: secretHash) else { return nil }
        self.noteUse(record.id)
        return SessionSnapshot(record)
    }

    /// The session of this id, to whoever proves to have a right to it.
    /// - Throws: ``SessionFault``: `.mismatch` for unknown, foreign and outdated alike; `.ended` or `.expired` only to
    ///   the owner or to whoever holds the last secret.
    package func find(id: String, proof: SessionProof) async throws -> SessionSnapshot {
        let record = try await self.keeper.apply(.read(proof), to: id).after
        self.noteUse(record.id)
        return SessionSnapshot(self.uses.apply(to: record))
    }

    /// A user's live sessions, newest first.
    package func liveSessions(tenantID: String, userID: String, limit: Int = 100) async throws -> [SessionSnapshot] {
        let records = try await self.store.liveSessions(
            tenantID: tenantID, userID: userID, now: self.clock(), limit: limit)
        return records.map { SessionSnapshot(self.uses.apply(to: $0)) }
    }

    /// What the owner of a session has beyond ``SessionPolicy/perUser``, that session spared.
    package func surplus(besides session: SessionSnapshot) async throws -> [SurplusSession] {
        guard let userID = session.userID else { return [] }
        return try await self.store.surplusSessions(
            userID: userID, sparing: session.id, limit: self.policy.perUser)
    }

    // MARK: Ending

    /// Ends a session for whoever proves to have a right to it. Harmless when it has ended before.
    package func end(id: String, proof: SessionProof) async throws -> EndedSession {
        try await self.end(id, .end(proof))
    }

    /// Ends a session because the gateway says so.
    /// - Returns: nil when there is no such session.
    package func end(id: String) async throws -> EndedSession? {
        do {
            return try await self.end(id, .end(nil))
        } catch let fault as SessionFault where fault == .mismatch {
            return nil
        }
    }

    private func end(_ id: String, _ event: SessionEvent) async throws -> EndedSession {
        let (before, after) = try await self.keeper.apply(event, to: id)
        let wasLive = before.state.isLive && after.state == .ended
        if wasLive { self.audit(SessionAudit(.ended, SessionSnapshot(after))) }
        return EndedSession(id: after.id, familyID: after.familyID, wasLive: wasLive)
    }

    // MARK: The one road

    /// Traffic Cop's primitives stand before everything that makes or changes a session.
    private func validate(
        _ contract: ExecutionContract, for intent: SessionIntent, kind: SessionIntent.Kind
    ) throws(Denial) -> ValidatedIntent {
        guard intent.kind == kind else { throw Denial(.contractMismatch) }
        return try self.cop.validate(contract, for: intent).get()
    }

    private func create(
        _ validated: ValidatedIntent, idle: Milliseconds, lifetime: Milliseconds, familyID: String?
    ) async throws -> IssuedSession {
        let intent = validated.intent
        let now = self.clock()
        let secret = SessionSecret()
        let record = SessionRecord(
            id: SessionID.make(), state: intent.userID == nil ? .anonymous : .authenticated,
            tenantID: intent.tenantID, userID: intent.userID, createdAt: now, lastSeenAt: now, idleTimeout: idle,
            absoluteExpiresAt: SessionLifecycle.saturating(now, plus: lifetime), secretHash: secret.hash,
            familyID: familyID,
            metadata: try SessionMetadata.merge(intent.metadata, into: "{}", limit: self.policy.metadataLimit))
        try await self.store.insert(session: record)
        let session = SessionSnapshot(record)
        self.audit(SessionAudit(.created, session))
        return IssuedSession(session: session, secret: secret, previousFamilyID: nil)
    }

    private func claim(
        _ validated: ValidatedIntent, secretHash: [UInt8], familyID: String?, expectedEpoch: Int64?,
        as event: (SessionClaim) -> SessionEvent
    ) async throws -> IssuedSession {
        let intent = validated.intent
        guard let id = intent.sessionID, let tenantID = intent.tenantID, let userID = intent.userID else {
            throw Denial(.contractMismatch)
        }
        let secret = SessionSecret()
        let claim = SessionClaim(
            owner: SessionOwner(tenantID: tenantID, userID: userID), presentedHash: secretHash, newHash: secret.hash,
            familyID: familyID, expectedEpoch: expectedEpoch, metadata: intent.metadata)
        let (before, after) = try await self.keeper.apply(event(claim), to: id)
        let session = SessionSnapshot(after)
        let change: SessionAudit.Name = before.epoch == after.epoch ? .repeated : .upgraded
        self.audit(SessionAudit(intent.kind == .resume ? .resumed : change, session))
        return IssuedSession(
            session: session, secret: secret,
            previousFamilyID: before.familyID == after.familyID ? nil : before.familyID)
    }
}
