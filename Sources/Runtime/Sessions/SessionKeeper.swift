import Libcrypto
import StateSurface

/// Carries out the decisions of ``SessionLifecycle``: it loads a session, decides, replaces it if its version is
/// unchanged, and repeats this after a conflict.
///
/// Events that will most likely write do so in one transaction of the store.
struct SessionKeeper: Sendable {
    /// The number of attempts if other writers change the session at the same time.
    static let attempts = 64

    let store: any SessionStore
    let lifecycle: SessionLifecycle
    let uses: SessionUses
    let clock: @Sendable () -> Milliseconds
    /// Called for each session that was found to have expired and has been recorded as such, with the families that
    /// ended because it was their home.
    let expired: @Sendable (SessionRecord, [ExpiredSessions.Family]) -> Void

    /// Applies one event to one session, until the result is durable.
    /// - Returns: the session before and after.
    func apply(
        _ event: SessionEvent, to id: String
    ) async throws -> (before: SessionRecord, after: SessionRecord) {
        for _ in 0..<Self.attempts {
            guard let step = try await self.step(event, on: id) else { continue }
            if let next = step.expired { expired(next, step.families) }
            switch step.action {
            case .answer(let record): return (record, record)
            case .write(let next): return (step.loaded ?? next, next)
            case .expire(_, let fault), .refuse(let fault): throw fault
            }
        }
        throw SessionFault.conflict
    }

    /// Loads, decides and writes once.
    /// - Returns: nil if another writer was faster.
    private func step(_ event: SessionEvent, on id: String) async throws -> Step? {
        let step: Step
        switch event {
        case .read, .expiryCheck:
            // Rarely writes, so it does not use the store's writer.
            step = self.step(try await store.session(id: id), event)
            if let next = step.next, step.expired == nil {
                return try await store.replace(session: next) ? step : nil
            }
        case .upgrade, .resume, .end:
            let changed = try await store.change(sessionID: id) { stored in
                let step = self.step(stored, event)
                return (next: step.expired == nil ? step.next : nil, outcome: step)
            }
            guard let changed else { return nil }
            step = changed
        }
        // A session that has expired takes along the family that is at home in it.
        guard let expired = step.expired else { return step }
        guard let ended = try await store.expire(session: expired) else { return nil }
        return Step(loaded: step.loaded, action: step.action, families: ended.families)
    }

    private func step(_ stored: SessionRecord?, _ event: SessionEvent) -> Step {
        let (loaded, action) = decide(stored, event)
        return Step(loaded: loaded, action: action)
    }

    /// Decides on a stored session, with the latest use that this node knows of.
    func decide(
        _ stored: SessionRecord?, _ event: SessionEvent
    ) -> (loaded: SessionRecord?, action: SessionAction) {
        let loaded = stored.map(uses.apply)
        return (loaded, lifecycle.decide(loaded, event, now: clock()))
    }

    /// The live session whose current secret this is.
    func current(secretHash: [UInt8]) async throws -> SessionRecord? {
        guard let record = try await store.session(secretHash: secretHash) else { return nil }
        do {
            return try await apply(.read(.secret(hash: secretHash)), to: record.id).after
        } catch is SessionFault {
            return nil
        }
    }
}

/// A decision and the session it is about.
private struct Step: Sendable {
    let loaded: SessionRecord?
    let action: SessionAction
    /// The families that have ended with the session.
    var families: [ExpiredSessions.Family] = []

    /// The record to write, if it is that of a session that has expired.
    var expired: SessionRecord? { next?.state == .expired ? next : nil }

    /// The record to write, or nil.
    var next: SessionRecord? {
        switch action {
        case .write(let next), .expire(let next, _): next
        case .answer, .refuse: nil
        }
    }
}
