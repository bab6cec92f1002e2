import NIOCore

/// The head of one WebSocket frame.
package struct FrameHeader: Sendable, Equatable {
    /// What can be said about the bytes at the front of a buffer.
    package enum Parsed: Sendable, Equatable {
        case needMoreData
        case header(FrameHeader)
        /// The length has its top bit set, or does not fit this machine.
        case malformed
    }

    package var isFinal: Bool
    /// RSV1 to RSV3 as the low three bits.
    package var reserved: UInt8
    /// The opcode as sent; see `WebSocketOpcode`.
    package var opcode: UInt8
    /// The masking key in the order of the wire.
    package var maskingKey: UInt32?
    package var payloadLength: Int
    /// Whether the length is written in the shortest form (RFC 6455 §5.2 requires it).
    package var isMinimal: Bool
    /// How many bytes the header takes.
    package var length: Int

    /// Reads the header at the front of `bytes`, if it is all there. Every length is checked before it is a number.
    package static func parse(_ bytes: UnsafeRawBufferPointer) -> Parsed {
        guard bytes.count >= 2 else { return .needMoreData }
        let (first, second) = (bytes[0], bytes[1])
        let short = second & 0x7F
        let extended = short == 126 ? 2 : short == 127 ? 8 : 0
        let length = 2 + extended + (second & 0x80 != 0 ? 4 : 0)
        // A length that cannot be is refused before the key that follows it has arrived.
        if extended == 8, bytes.count >= 3, bytes[2] & 0x80 != 0 { return .malformed }
        guard bytes.count >= length else { return .needMoreData }
        var payload: UInt64 = extended == 0 ? UInt64(short) : 0
        for index in 0..<extended { payload = payload << 8 | UInt64(bytes[2 + index]) }
        guard let payloadLength = Int(exactly: payload) else { return .malformed }
        var key: UInt32?
        if second & 0x80 != 0 {
            key = bytes[(length - 4)..<length].reduce(0) { $0 << 8 | UInt32($1) }
        }
        return .header(
            FrameHeader(
                isFinal: first & 0x80 != 0,
                reserved: first >> 4 & 0x7,
                opcode: first & 0x0F,
                maskingKey: key,
                payloadLength: payloadLength,
                isMinimal: extended == 0 || (extended == 2 ? payload > 125 : payload > 0xFFFF),
                length: length))
    }
}
