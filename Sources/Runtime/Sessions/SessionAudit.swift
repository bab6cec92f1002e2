import StateSurface

/// One line for the audit log: what became of a session. It never holds a secret, nor the whole id.
package struct SessionAudit: Sendable, Equatable {
    package enum Name: String, Sendable {
        case created = "session.created"
        case upgraded = "session.upgraded"
        case repeated = "session.upgrade_repeated"
        case resumed = "session.resumed"
        case ended = "session.ended"
        /// Its time was over; told once, by whoever wrote that down.
        case expired = "session.expired"
        /// Somebody named a session without having its secret, and got another one.
        case notAdopted = "session.not_adopted"
    }

    package let name: Name
    /// The first characters of what is random in the id: enough to find the session, too little to name it.
    package let reference: String
    /// A reason code; empty when there is nothing to explain.
    package var reason = ""
    package var tenantID: String?
    package var userID: String?
    package var familyID: String?
    package var epoch: Int64?

    init(_ name: Name, sessionID: String) {
        self.name = name
        self.reference = String(sessionID.dropFirst(SessionID.prefix.count).prefix(8))
    }

    init(_ name: Name, _ session: SessionSnapshot) {
        self.init(name, sessionID: session.id)
        self.tenantID = session.tenantID
        self.userID = session.userID
        self.familyID = session.familyID
        self.epoch = session.epoch
    }
}

/// Where these go. It must be quick: it is called on the path of a request.
package typealias SessionAuditSink = @Sendable (SessionAudit) -> Void

extension Runtime {
    /// Notes something about a session that the edge has found out.
    package func note(_ name: SessionAudit.Name, sessionID: String, reason: String) {
        var event = SessionAudit(name, sessionID: sessionID)
        event.reason = reason
        self.audit(event)
    }

    /// Sessions have ended together with something else.
    package func noteEnded(_ sessionIDs: [String], reason: String) {
        for id in sessionIDs { self.note(.ended, sessionID: id, reason: reason) }
    }

    /// Whether there is or was such a session.
    package func knows(sessionID: String) async throws -> Bool {
        try await self.store.session(id: sessionID) != nil
    }
}
