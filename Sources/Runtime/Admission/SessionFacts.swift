import StateSurface

/// What was read of a session. Nothing in it ever changes: a later reading is another object.
///
/// A class: who is let in holds on to it, and takes no copy of what it says.
final class SessionFacts: Sendable {
    let state: StoredSessionState
    let id: String
    let tenantID: String?
    let userID: String?
    let epoch: Int64
    let familyID: String?
    let absoluteExpiresAt: Milliseconds
    let secretHash: [UInt8]

    init(_ record: SessionRecord) {
        self.state = record.state
        self.id = record.id
        self.tenantID = record.tenantID
        self.userID = record.userID
        self.epoch = record.epoch
        self.familyID = record.familyID
        self.absoluteExpiresAt = record.absoluteExpiresAt
        self.secretHash = record.secretHash
    }
}

/// What says how long a session lasts.
struct SessionTimes: Sendable {
    /// The one thing that use changes.
    var lastSeenAt: Milliseconds
    let idleTimeout: Milliseconds
    let absoluteExpiresAt: Milliseconds

    init(_ record: SessionRecord) {
        self.lastSeenAt = record.lastSeenAt
        self.idleTimeout = record.idleTimeout
        self.absoluteExpiresAt = record.absoluteExpiresAt
    }

    /// Those of no session.
    init() {
        self.lastSeenAt = 0
        self.idleTimeout = 0
        self.absoluteExpiresAt = 0
    }

    /// Whether the idle or the absolute end has come.
    func isOver(at now: Milliseconds) -> Bool {
        let (idleEnd, overflow) = self.lastSeenAt.addingReportingOverflow(self.idleTimeout)
        return now >= self.absoluteExpiresAt || (!overflow && now >= idleEnd)
    }
}

extension SessionView {
    /// A session as it was known at one moment: a use that is noted later does not show in it.
    struct Entry: Sendable {
        let facts: SessionFacts
        let times: SessionTimes

        init(_ record: SessionRecord) {
            self.facts = SessionFacts(record)
            self.times = SessionTimes(record)
        }

        /// What lies in a slot; nil when that is empty. Only to be made under the lock of the table.
        init?(_ slot: SessionSlot) {
            guard let facts = slot.facts?.takeUnretainedValue() else { return nil }
            self.facts = facts
            self.times = slot.times
        }

        var epoch: Int64 { self.facts.epoch }

        func isLive(at now: Milliseconds) -> Bool {
            self.facts.state.isLive && !self.times.isOver(at: now)
        }
    }
}
