import StateSurface

/// A session before and after a change that was allowed.
package struct SessionWrite: Sendable {
    /// nil for a session that comes to be.
    package let before: SessionRecord?
    let after: SessionRecord
    let audit: SessionAudit.Name?

    /// Writes it.
    /// - Throws: ``SessionRaced`` when another writer was faster; the store's errors.
    package func write(in transaction: any StoreTransaction) throws {
        guard before != nil else { return try transaction.insert(session: after) }
        guard try transaction.replace(session: after) else { throw SessionRaced() }
    }

    /// The session as it is once this is durable.
    package var session: SessionSnapshot { SessionSnapshot(after) }
}

/// Why a session stays as it is.
package struct SessionRefusal: Error, Sendable {
    package let fault: SessionFault
    /// The session, where it was found past its end and marked so.
    let expired: SessionRecord?

    init(fault: SessionFault, expired: SessionRecord?) {
        self.fault = fault
        self.expired = expired
    }

    package init(_ code: SessionFault.Code) {
        self.init(fault: SessionFault(code), expired: nil)
    }
}

/// Another writer has changed the session since the transaction read it. Nothing of the transaction has happened: run it
/// again.
package struct SessionRaced: TransactionAbort {
    package init() {}

    /// How often a transaction may lose its race before the caller is told of a conflict.
    package static let attempts = SessionKeeper.attempts
}
