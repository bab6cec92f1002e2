import StateSurface

@testable import Runtime

/// The end of one session alone. The gateway ends sessions in `SignIn`, with what belongs to them.
extension Runtime {
    /// Ends a session for a caller with a proof for it. It may be called again for an ended session.
    func end(id: String, proof: SessionProof) async throws -> EndedSession {
        try await end(id, .end(proof))
    }

    /// Ends a session for the gateway itself, without a proof.
    /// - Returns: nil if there is no such session.
    func end(id: String) async throws -> EndedSession? {
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

/// The result of ending a session.
struct EndedSession: Sendable, Equatable {
    /// The session's id.
    let id: String
    /// The refresh family that it was home or guest of.
    let familyID: String?
    /// False if it had ended or expired before.
    let wasLive: Bool
}
