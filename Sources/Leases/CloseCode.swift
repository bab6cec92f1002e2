import HTTPWire
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

    /// The WebSocket close code (RFC 6455 section 7.4).
    package var closeCode: UInt16 {
        switch self {
        case .tokenExpired, .tokenRevoked: 4401
        case .sessionEnded: 4403
        case .sessionUpgraded: 4409
        case .draining: 1001
        case .storeLost: 1013
        case .lifetimeOver: 4401
        }
    }

    /// The whole close frame, made once: thousands of sockets may get the same.
    package var frame: ByteBuffer {
        switch self {
        case .tokenExpired, .lifetimeOver: Self.expiredFrame
        case .tokenRevoked: Self.revokedFrame
        case .sessionEnded: Self.endedFrame
        case .sessionUpgraded, .draining, .storeLost: Self.frame(of: self)
        }
    }

    private static let expiredFrame = frame(of: .tokenExpired)
    private static let revokedFrame = frame(of: .tokenRevoked)
    private static let endedFrame = frame(of: .sessionEnded)

    private static func frame(of end: LeaseEnd) -> ByteBuffer {
        var frame = ByteBuffer()
        FrameEncoder.close(code: end.closeCode, reason: end.reason, to: &frame)
        return frame
    }

    /// The close frame's reason.
    package var reason: String {
        switch self {
        case .tokenExpired, .lifetimeOver: "token_expired"
        case .tokenRevoked: "token_revoked"
        case .sessionEnded: "session_ended"
        case .sessionUpgraded: "session_upgraded"
        case .draining: "draining"
        case .storeLost: "store_unavailable"
        }
    }
}
