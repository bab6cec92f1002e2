import StateSurface

/// The times that determine when a session expires.
struct SessionTimes: Sendable {
    /// The last use.
    var lastSeenAt: Milliseconds
    let idleTimeout: Milliseconds
    let absoluteExpiresAt: Milliseconds

    init(_ record: SessionRecord) {
        self.lastSeenAt = record.lastSeenAt
        self.idleTimeout = record.idleTimeout
        self.absoluteExpiresAt = record.absoluteExpiresAt
    }

    /// Zeros, for an empty slot.
    init() {
        self.lastSeenAt = 0
        self.idleTimeout = 0
        self.absoluteExpiresAt = 0
    }

    /// Whether the session has expired, by idle time or absolutely.
    func isOver(at now: Milliseconds) -> Bool {
        let (idleEnd, overflow) = lastSeenAt.addingReportingOverflow(idleTimeout)
        return now >= absoluteExpiresAt || (!overflow && now >= idleEnd)
    }
}
