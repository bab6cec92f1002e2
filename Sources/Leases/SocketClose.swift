import HTTPWire
import NIOCore

/// A Close sent by the gateway: code and reason (RFC 6455 section 7.4).
package struct SocketClose: Equatable {
    /// A code of RFC 6455 section 7.4.1, 1013 (registered later: try again), or one of the gateway's own from 4400 on.
    package let code: UInt16
    /// At most 123 bytes.
    package let reason: String

    /// - Parameters:
    ///   - code: one that may be sent (RFC 6455 section 7.4).
    ///   - reason: at most 123 bytes of UTF-8.
    package init(code: UInt16, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The client reads more slowly than it is sent to.
    package static let overloaded = SocketClose(code: 1013, reason: "overloaded")
    /// A message was not complete in time.
    package static let messageTooSlow = SocketClose(code: 1008, reason: "message_too_slow")

    /// The complete frame.
    package var frame: ByteBuffer {
        var frame = ByteBuffer()
        FrameEncoder.close(code: code, reason: reason, to: &frame)
        return frame
    }
}
