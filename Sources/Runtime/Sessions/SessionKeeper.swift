import Libcrypto
import StateSurface

/// Carries out what ``SessionLifecycle`` decides: load, decide, replace by version; on a conflict once more.
///
/// What will most likely write does all of it in one transaction of the store.
struct SessionKeeper: Sendable {
    /// How often a write may lose its race before the caller is told so.
    static let attempts = 64

    let store: any SessionStore
    let lifecycle: SessionLifecycle
    let uses: SessionUses
    let clock: @Sendable () -> Milliseconds
    /// Told of each session that was found past its end and has now been written down as expired.
    let expired: @Sendable (SessionRecord) -> Void

    /// One event on one session, until it is decided and durable.
    /// - Returns: the session before and after.
    func apply(
        _ event: SessionEvent, to id: String
    ) async throws -> (before: SessionRecord, after: SessionRecord) {
        for _ in 0..<Self.attempts {
            guard let step = try await self.step(event, on: id) else { continue }
            if let next = step.next, next.state == .expired { self.expired(next) }
            switch step.action {
            case .answer(let record): return (record, record)
            case .write(let next): return (step.loaded ?? next, next)
            case .expire(_, let fault), .refuse(let fault): throw fault
            }
        }
        throw SessionFault.conflict
    }

    /// Loads, decides and writes.
    /// - Returns: nil when another writer was faster.
    private func step(_ event: SessionEvent, on id: String) async throws -> Step? {
        switch event {
        case .read, .lapse:
            // Hardly ever writes: not for the store's writer, then.
            let step = self.step(try await self.store.session(id: id), event)
            guard let next = step.next else { return step }
            return try await self.store.replace(session: next) ? step : nil
        case .upgrade, .resume, .end:
            return try await self.store.change(sessionID: id) { stored in
                let step = self.step(stored, event)
                return (next: step.next, outcome: step)
            }
        }
    }

    private func step(_ stored: SessionRecord?, _ event: SessionEvent) -> Step {
        let (loaded, action) = self.decide(stored, event)
        return Step(loaded: loaded, action: action)
    }

    /// Decides on a session as it lies in the store, with the latest use of it that this node knows of.
    func decide(
        _ stored: SessionRecord?, _ event: SessionEvent
    ) -> (loaded: SessionRecord?, action: SessionAction) {
        let loaded = stored.map(self.uses.apply)
        return (loaded, self.lifecycle.decide(loaded, event, now: self.clock()))
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

/// What was decided, and on what.
private struct Step: Sendable {
    let loaded: SessionRecord?
    let action: SessionAction

    /// What has to be written for it, if anything.
    var next: SessionRecord? {
        switch action {
        case .write(let next), .expire(let next, _): next
        case .answer, .refuse: nil
        }
    }
}
