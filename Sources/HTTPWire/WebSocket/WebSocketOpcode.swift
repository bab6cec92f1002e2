/// The opcodes of frames (RFC 6455 section 5.2).
public enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether it is a control frame, which may be sent between the fragments of a message (RFC 6455 section 5.5).
    public var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The close codes for faults of the peer (RFC 6455 section 7.4.1).
public enum WebSocketFault: UInt16, Error, Sendable {
    /// A frame or handshake that breaks the protocol.
    case protocolError = 1002
    /// Text or a close reason that is not UTF-8.
    case invalidPayload = 1007
    /// A message over the limit of bytes or of frames.
    case messageTooBig = 1009
}
