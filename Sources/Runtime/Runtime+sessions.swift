import StateSurface

extension Runtime {
    // MARK: Reading

    /// The live session with this current secret, or nil.
    package func current(secretHash: [UInt8]) async throws -> SessionSnapshot? {
        guard let record = try await keeper.current(secretHash: secretHash) else { return nil }
        noteUse(record.id)
        return SessionSnapshot(record)
    }

    /// The session with this id, for a caller with a proof for it.
    /// - Throws: ``SessionFault``: `.mismatch` if it is unknown, or the proof is foreign or outdated; `.ended` or
    ///   `.expired` only for the owner or the last secret.
    package func find(id: String, proof: SessionProof) async throws -> SessionSnapshot {
        let record = try await keeper.apply(.read(proof), to: id).after
        noteUse(record.id)
        return SessionSnapshot(uses.apply(to: record))
    }

    /// A user's live sessions, newest first.
    package func liveSessions(tenantID: String, userID: String, limit: Int = 100) async throws -> [SessionSnapshot] {
        let records = try await store.liveSessions(
            tenantID: tenantID, userID: userID, now: clock(), limit: limit)
        return records.map { SessionSnapshot(self.uses.apply(to: $0)) }
    }

    // MARK: Ending

    /// Ends a session for a caller with a proof for it. It may be called again for an ended session.
    package func end(id: String, proof: SessionProof) async throws -> EndedSession {
        try await end(id, .end(proof))
    }

    /// Ends a session for the gateway itself, without a proof.
    /// - Returns: nil if there is no such session.
    package func end(id: String) async throws -> EndedSession? {
        do {
            return try await end(id, .end(nil))
        } catch let fault as SessionFault where fault == .mismatch {
            return nil
        }
    }

    private func end(_ id: String, _ event: SessionEvent) async throws -> EndedSession {
        let (before, after) = try await keeper.apply(event, to: id)
        let wasLive = before.state.isLive && after.state == .ended
        if wasLive { audit(SessionAudit(.ended, SessionSnapshot(after))) }
        return EndedSession(id: after.id, familyID: after.familyID, wasLive: wasLive)
    }
}
