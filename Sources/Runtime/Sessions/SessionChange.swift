import StateSurface

/// Something that is about to happen to one session, to be decided and written inside a store transaction of the caller's:
/// what else the transaction writes happens together with it, or not at all.
///
/// Made by ``Runtime``, which is told of the result with ``Runtime/report(_:)`` once the transaction is durable.
package struct SessionChange: Sendable {
    enum Kind: Sendable {
        /// The session comes to be.
        case create(SessionRecord)
        /// Something happens to a session that may exist.
        case event(SessionEvent)
    }

    /// The session's id, known also where it has yet to be created: a family can name it.
    package let sessionID: String
    let kind: Kind
    let keeper: SessionKeeper
    /// What the audit log calls it.
    let audit: SessionAudit.Name?

    /// Decides on the session as it lies in the store. Writes nothing but that a session is found past its end, which
    /// stays written although the caller is refused.
    /// - Throws: ``SessionRaced``; the store's errors.
    package func decide(in transaction: any StoreTransaction) throws -> SessionDecision {
        switch kind {
        case .create(let record):
            return .write(SessionWrite(before: nil, after: record, audit: audit))
        case .event(let event):
            return try decide(event, in: transaction)
        }
    }

    private func decide(_ event: SessionEvent, in transaction: any StoreTransaction) throws -> SessionDecision {
        let stored = try transaction.session(id: sessionID)
        let (loaded, action) = keeper.decide(stored, event)
        switch action {
        case .answer(let record):
            return .leave(SessionSnapshot(record))
        case .write(let next):
            return .write(SessionWrite(before: loaded, after: next, audit: audit))
        case .expire(let next, let fault):
            guard try transaction.replace(session: next) else { throw SessionRaced() }
            return .refuse(SessionRefusal(fault: fault, expired: next))
        case .refuse(let fault):
            return .refuse(SessionRefusal(fault: fault, expired: nil))
        }
    }
}

/// What is to become of a ``SessionChange``.
package enum SessionDecision: Sendable {
    /// It may happen: write it with ``SessionWrite/write(in:)``.
    case write(SessionWrite)
    /// The session is already as it should be.
    case leave(SessionSnapshot)
    /// It may not happen. Commit all the same, and hand this to ``Runtime/report(_:)``.
    case refuse(SessionRefusal)
}
