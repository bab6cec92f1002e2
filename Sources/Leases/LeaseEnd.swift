import NIOCore

/// Why the gateway ends an open socket or a streamed answer.
package enum LeaseEnd: Sendable, Equatable {
    /// The token expired without a refresh of its family.
    case tokenExpired
    /// The token was revoked; its session may still be live.
    case tokenRevoked
    /// The session ended or expired.
    case sessionEnded
    /// The session got an owner while an anonymous socket was open.
    case sessionUpgraded
    /// The gateway is stopping.
    case draining
    /// The store has been unreachable for longer than `state.grace`.
    case storeLost
    /// `websocket.max_lifetime` is over.
    case lifetimeOver

    /// The close code and reason for a socket.
    package var close: SocketClose {
        switch self {
        case .tokenExpired, .lifetimeOver: SocketClose(code: 4401, reason: "token_expired")
        case .tokenRevoked: SocketClose(code: 4401, reason: "token_revoked")
        case .sessionEnded: SocketClose(code: 4403, reason: "session_ended")
        case .sessionUpgraded: SocketClose(code: 4409, reason: "session_upgraded")
        case .draining: SocketClose(code: 1001, reason: "draining")
        case .storeLost: SocketClose(code: 1013, reason: "store_unavailable")
        }
    }

    /// The complete close frame. Frames that thousands of sockets may get are made once.
    package var frame: ByteBuffer {
        switch self {
        case .tokenExpired, .lifetimeOver: Self.expiredFrame
        case .tokenRevoked: Self.revokedFrame
        case .sessionEnded: Self.endedFrame
        case .sessionUpgraded, .draining, .storeLost: close.frame
        }
    }

    private static let expiredFrame = LeaseEnd.tokenExpired.close.frame
    private static let revokedFrame = LeaseEnd.tokenRevoked.close.frame
    private static let endedFrame = LeaseEnd.sessionEnded.close.frame
}
