/// The opcodes of RFC 6455 §5.2.
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether frames of this kind may stand between the fragments of a message.
    package var isControl: Bool { self.rawValue & 0x8 != 0 }
}

/// The status codes with which this side closes for a fault of the peer (RFC 6455 §7.4.1).
package enum WebSocketFault: UInt16, Error, Sendable {
    case protocolError = 1002
    case invalidPayload = 1007
    case messageTooBig = 1009
}

/// Which close codes may be sent over the wire.
package enum WebSocketCloseCode {
    /// Whether a peer may send `code`: the registered ones that are not reserved, and 3000 to 4999.
    package static func isLegal(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
