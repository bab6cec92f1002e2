import StateSurface

/// A change of one session, which is decided and written inside the caller's transaction, together with its other
/// writes.
///
/// ``Runtime`` makes it. Its result must be passed to ``Runtime/report(_:)`` once the transaction is durable.
package struct SessionChange: Sendable {
    enum Kind: Sendable {
        /// The session is created.
        case create(SessionRecord)
        /// An event on a session that may exist.
        case event(SessionEvent)
    }

    /// The session's id, also of one that is yet to be created, so that a family can name it.
    package let sessionID: String
    let kind: Kind
    let keeper: SessionKeeper
    /// The name of the event in the audit log.
    let audit: SessionAudit.Name?

    /// Decides on the session as it is stored. The only write is that of an expired session and of what ends with it,
    /// which is kept although the caller is refused.
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
            guard let ended = try transaction.expire(session: next) else { throw SessionRaced() }
            return .refuse(SessionRefusal(fault: fault, expired: next, families: ended.families))
        case .refuse(let fault):
            return .refuse(SessionRefusal(fault: fault, expired: nil))
        }
    }
}

/// The decision on a ``SessionChange``.
package enum SessionDecision: Sendable {
    /// It is allowed: write it with ``SessionWrite/write(in:)``.
    case write(SessionWrite)
    /// The session already is in the requested state.
    case leave(SessionSnapshot)
    /// It is refused. The transaction must still be committed, and this passed to ``Runtime/report(_:)``.
    case refuse(SessionRefusal)
}
