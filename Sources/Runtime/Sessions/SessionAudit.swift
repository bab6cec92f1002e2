import StateSurface

/// An event for the audit log about a session. It contains neither a secret nor the whole id.
package struct SessionAudit: Sendable, Equatable {
    /// The names of the events, as the audit log has them.
    package enum Name: String, Sendable {
        case created = "session.created"
        case upgraded = "session.upgraded"
        case repeated = "session.upgrade_repeated"
        case resumed = "session.resumed"
        case ended = "session.ended"
        /// It expired. Reported once, by the node that recorded it.
        case expired = "session.expired"
        /// A client named a session without its secret, and got another one.
        case notAdopted = "session.not_adopted"
    }

    /// The length of ``reference``.
    package static let referenceLength = 12

    /// What happened.
    package let name: Name
    /// The first 12 characters of the id, `ses_` and eight: enough to find the session and too few to address it.
    package let reference: String
    /// The reason code; empty if there is none.
    package var reason = ""
    /// The owner's tenant; nil while the session is anonymous.
    package var tenantID: String?
    /// The owner; nil while the session is anonymous.
    package var userID: String?
    /// The refresh family that the session is home or guest of.
    package var familyID: String?
    /// The session's epoch after the event.
    package var epoch: Int64?

    init(_ name: Name, sessionID: String) {
        self.name = name
        self.reference = String(sessionID.prefix(Self.referenceLength))
    }

    init(_ name: Name, _ session: SessionSnapshot) {
        self.init(name, sessionID: session.id)
        self.tenantID = session.tenantID
        self.userID = session.userID
        self.familyID = session.familyID
        self.epoch = session.epoch
    }
}

/// Receives events. It is called while a request is handled, so it must not block.
package typealias SessionAuditSink = @Sendable (SessionAudit) -> Void

extension Runtime {
    /// Records an event that the edge has detected.
    package func note(_ name: SessionAudit.Name, sessionID: String, reason: String) {
        var event = SessionAudit(name, sessionID: sessionID)
        event.reason = reason
        audit(event)
    }

    /// Records that sessions have ended together with a family or an account.
    package func noteEnded(_ sessionIDs: [String], reason: String) {
        for id in sessionIDs { note(.ended, sessionID: id, reason: reason) }
    }

    /// Records that families have ended because their homes expired, with their guests.
    func reportEnded(_ families: [ExpiredSessions.Family]) { Self.report(families, to: audit, familyEnded) }

    static func report(
        _ families: [ExpiredSessions.Family], to audit: SessionAuditSink,
        _ familyEnded: @Sendable (_ familyID: String) -> Void
    ) {
        for family in families {
            familyEnded(family.id)
            for id in family.sessionIDs {
                var event = SessionAudit(.ended, sessionID: id)
                event.reason = "family_ended"
                audit(event)
            }
        }
    }

    /// Whether the session exists, live or as a tombstone.
    package func knows(sessionID: String) async throws -> Bool {
        try await store.session(id: sessionID) != nil
    }
}
