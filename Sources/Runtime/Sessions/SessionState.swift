import StateSurface

/// Where a session stands: `anonymous` → `authenticated` → `ended` | `expired`, never backwards.
package enum SessionState: String, Sendable, Hashable, CaseIterable {
    case anonymous, authenticated, ended, expired

    /// Whether a session in this state can still be used.
    package var isLive: Bool { self == .anonymous || self == .authenticated }

    init(_ stored: StoredSessionState) {
        switch stored {
        case .anonymous: self = .anonymous
        case .authenticated: self = .authenticated
        case .ended: self = .ended
        case .expired: self = .expired
        }
    }
}

/// What happened to a session, for those who hold a ``Permit`` for it.
package enum SessionNotice: Sendable, Equatable {
    /// It was written. A permit of an older epoch, or any permit for one that is no longer live, has ended.
    case changed(sessionID: String, state: SessionState, epoch: Int64)
    /// Something may have been missed: every permit has to be renewed.
    case reset
}

/// Handle on being told; cancel it to hear no more.
package struct NoticeSubscription: Sendable {
    let onCancel: @Sendable () -> Void

    package func cancel() { self.onCancel() }
}
