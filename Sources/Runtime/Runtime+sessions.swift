import StateSurface

extension Runtime {
    // MARK: Being asked for

    /// The live session whose current secret this is.
    package func current(secretHash: [UInt8]) async throws -> SessionSnapshot? {
        guard let record = try await self.keeper.current(secretHash: secretHash) else { return nil }
        self.noteUse(record.id)
        return SessionSnapshot(record)
    }

    /// The session of this id, to a caller who proves to have a right to it.
    /// - Throws: ``SessionFault``: `.mismatch` for unknown, foreign and outdated alike; `.ended` or `.expired` only to
    ///   the owner or to the holder of the last secret.
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

    // MARK: Ending

    /// Ends a session for a caller who proves to have a right to it. Harmless when it has ended before.
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
}
