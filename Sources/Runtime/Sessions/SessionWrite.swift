import StateSurface

/// A session before and after an allowed change.
package struct SessionWrite: Sendable {
    /// Nil for a session that is created.
    package let before: SessionRecord?
    let after: SessionRecord
    let audit: SessionAudit.Name?

    /// Writes the change.
    /// - Throws: ``SessionRaced`` if another writer was faster; the store's errors.
    package func write(in transaction: any StoreTransaction) throws {
        guard before != nil else { return try transaction.insert(session: after) }
        guard try transaction.replace(session: after) else { throw SessionRaced() }
    }

    /// The session after the change.
    package var session: SessionSnapshot { SessionSnapshot(after) }
}

/// The refusal of a change.
package struct SessionRefusal: Error, Sendable {
    /// Why.
    package let fault: SessionFault
    /// The session, if it was found to have expired and marked so; otherwise nil.
    let expired: SessionRecord?
    /// The families that ended because it was their home.
    let families: [ExpiredSessions.Family]
    /// The ids of these families.
    package var endedFamilyIDs: [String] { families.map(\.id) }

    init(fault: SessionFault, expired: SessionRecord?, families: [ExpiredSessions.Family] = []) {
        self.fault = fault
        self.expired = expired
        self.families = families
    }

    package init(_ code: SessionFault.Code) {
        self.init(fault: SessionFault(code), expired: nil)
    }
}

/// Another writer has changed the session since the transaction read it. The transaction is rolled back and should be
/// run again.
package struct SessionRaced: TransactionAbort {
    package init() {}

    /// The number of attempts before the caller gets a conflict.
    package static let attempts = SessionKeeper.attempts
}
