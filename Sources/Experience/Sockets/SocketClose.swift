import HTTPWire
import NIOCore
import Runtime

/// A Close of the gateway's own: code and reason (RFC 6455 section 7.4).
struct SocketClose: Equatable {
    let code: UInt16
    let reason: String

    /// The client takes less than it is sent.
    static let overloaded = SocketClose(code: 1013, reason: "overloaded")
    /// A message was not whole in time.
    static let messageTooSlow = SocketClose(code: 1008, reason: "message_too_slow")

    /// The whole frame.
    var frame: ByteBuffer {
        var frame = ByteBuffer()
        FrameEncoder.close(code: code, reason: reason, to: &frame)
        return frame
    }
}

extension SocketClose {
    /// How an agent's socket is closed when the Runtime has ended its part of the connection.
    init(_ end: AgentEnd) {
        switch end {
        case .sessionEnded: self = LeaseEnd.sessionEnded.close
        case .permitOutgrown: self = LeaseEnd.tokenRevoked.close
        case .fellBehind: self = .overloaded
        }
    }
}
