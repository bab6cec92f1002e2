import Libcrypto
import StateSurface

/// Carries out what ``SessionLifecycle`` decides: load, decide, replace by version; on a conflict once more.
struct SessionKeeper: Sendable {
    /// How often a write may lose its race before the caller is told so.
    static let attempts = 64

    let store: any StateSurface
    let lifecycle: SessionLifecycle
    let uses: SessionUses
    let clock: @Sendable () -> Milliseconds

    /// One event on one session, until it is decided and durable.
    /// - Returns: the session before and after.
    func apply(
        _ event: SessionEvent, to id: String
    ) async throws -> (before: SessionRecord, after: SessionRecord) {
        for _ in 0..<Self.attempts {
            let loaded = try await self.store.session(id: id).map(self.uses.apply)
            switch self.lifecycle.decide(loaded, event, now: self.clock()) {
            case .answer(let record):
                return (record, record)
            case .write(let next):
                guard try await self.store.replace(session: next) else { continue }
                return (loaded ?? next, next)
            case .expire(let next, let fault):
                guard try await self.store.replace(session: next) else { continue }
                throw fault
            case .refuse(let fault):
                throw fault
            }
        }
        throw SessionFault.conflict
    }

    /// The live session whose current secret this is.
    func current(secretHash: [UInt8]) async throws -> SessionRecord? {
        guard let record = try await self.store.session(secretHash: secretHash) else { return nil }
        do {
            return try await self.apply(.read(.secret(hash: secretHash)), to: record.id).after
        } catch is SessionFault {
            return nil
        }
    }
}
