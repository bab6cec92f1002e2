import NIOCore

/// Why the gateway ends an open socket or a streamed answer.
package enum LeaseEnd: Sendable, Hashable, CaseIterable {
    /// The token expired without a refresh of its family.
    case tokenExpired
    /// The token was revoked; its session may still be live.
    case tokenRevoked
    /// The session ended or expired.
    case sessionEnded
    /// The session got an owner while an anonymous socket was open.
    case sessionUpgraded
    /// The caller's account no longer meets the route's `allow`.
    case notAllowed
    /// The gateway is stopping.
    case draining
    /// The store has been unreachable for longer than `state.grace`.
    case storeLost
    /// `websocket.max_lifetime` is over.
    case lifetimeOver
    /// The route of the socket was taken out of the configuration.
    case routeGone
    /// An operator ended it.
    case endedByOperator

    /// The word for metrics.
    package var word: String {
        switch self {
        case .tokenExpired: "token_expired"
        case .tokenRevoked: "token_revoked"
        case .sessionEnded: "session_ended"
        case .sessionUpgraded: "session_upgraded"
        case .notAllowed: "not_allowed"
        case .draining: "draining"
        case .storeLost: "store_unavailable"
        case .lifetimeOver: "lifetime_over"
        case .routeGone: "route_gone"
        case .endedByOperator: "ended_by_operator"
        }
    }

    /// The close code and reason for a socket.
    package var close: SocketClose {
        switch self {
        case .tokenExpired, .lifetimeOver: SocketClose(code: 4401, reason: "token_expired")
        case .tokenRevoked: SocketClose(code: 4401, reason: "token_revoked")
        case .sessionEnded: SocketClose(code: 4403, reason: "session_ended")
        case .sessionUpgraded: SocketClose(code: 4409, reason: "session_upgraded")
        case .notAllowed: SocketClose(code: 4403, reason: "not_allowed")
        case .draining: SocketClose(code: 1001, reason: "draining")
        case .storeLost: SocketClose(code: 1013, reason: "store_unavailable")
        case .routeGone: SocketClose(code: 4403, reason: "route_gone")
        case .endedByOperator: SocketClose(code: 4403, reason: "ended_by_operator")
        }
    }

    /// The complete close frame. Frames that thousands of sockets may get are made once.
    package var frame: ByteBuffer {
        switch self {
        case .tokenExpired, .lifetimeOver: Self.expiredFrame
        case .tokenRevoked: Self.revokedFrame
        case .sessionEnded: Self.endedFrame
        case .sessionUpgraded, .notAllowed, .draining, .storeLost, .routeGone, .endedByOperator: close.frame
        }
    }

    private static let expiredFrame = LeaseEnd.tokenExpired.close.frame
    private static let revokedFrame = LeaseEnd.tokenRevoked.close.frame
    private static let endedFrame = LeaseEnd.sessionEnded.close.frame
}
