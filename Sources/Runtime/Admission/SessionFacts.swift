import StateSurface

/// The data of a session as it was read. It is immutable; a later read makes another object.
///
/// It is a class, so that permits hold a reference and do not copy it.
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

extension SessionView {
    /// A session at one moment. Later uses are not included.
    struct Entry: Sendable {
        let facts: SessionFacts
        let times: SessionTimes

        init(_ record: SessionRecord) {
            self.facts = SessionFacts(record)
            self.times = SessionTimes(record)
        }

        /// The content of a slot; nil if it is empty. It must be made under the lock of the table.
        init?(_ slot: SessionSlot) {
            guard let facts = slot.facts?.takeUnretainedValue() else { return nil }
            self.facts = facts
            self.times = slot.times
        }

        var epoch: Int64 { facts.epoch }

        func isLive(at now: Milliseconds) -> Bool {
            facts.state.isLive && !times.isOver(at: now)
        }
    }
}
