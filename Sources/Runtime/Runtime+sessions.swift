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
}
