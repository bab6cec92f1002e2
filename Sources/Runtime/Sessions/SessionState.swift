import StateSurface

/// The state of a session: `anonymous` → `authenticated` → `ended` | `expired`. It is never changed back.
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

/// A change of a session, for the holders of a ``Permit`` for it.
package enum SessionNotice: Sendable, Equatable {
    /// It was written. Permits of an older epoch are invalid, and all permits if it is no longer live.
    case changed(sessionID: String, state: SessionState, epoch: Int64)
    /// Changes may have been missed, so every permit must be checked again.
    case reset
}

/// A subscription to notices.
package struct NoticeSubscription: Sendable {
    let onCancel: @Sendable () -> Void

    package func cancel() { onCancel() }
}
