import NIOCore

/// Why the gateway itself ends an open socket or streaming answer.
package enum LeaseEnd: Sendable, Equatable {
    /// The token expired without a refresh of its family.
    case tokenExpired
    /// The token was revoked while its session lives.
    case tokenRevoked
    /// The session ended, for whatever reason.
    case sessionEnded
    /// The session was upgraded under an anonymous socket.
    case sessionUpgraded
    /// The gateway is stopping.
    case draining
    /// The store has been out of reach for longer than its grace.
    case storeLost
    /// `websocket.max_lifetime` is over.
    case lifetimeOver

    /// What a socket's client is told.
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

    /// The whole close frame, made once where thousands of sockets may get the same.
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
