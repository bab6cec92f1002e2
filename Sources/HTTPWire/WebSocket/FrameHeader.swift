import NIOCore

/// The header of one WebSocket frame (RFC 6455 section 5.2).
public struct FrameHeader: Sendable, Equatable {
    /// The result of parsing the bytes at the front of a buffer.
    public enum Parsed: Sendable, Equatable {
        /// The header is not complete.
        case needMoreData
        /// A complete header.
        case header(FrameHeader)
        /// The payload length has its top bit set or does not fit in an `Int`.
        case malformed
    }

    /// Whether the frame ends a message (FIN).
    public var isFinal: Bool
    /// RSV1 to RSV3 in the low three bits.
    public var reserved: UInt8
    /// The opcode as sent; see `WebSocketOpcode`.
    public var opcode: UInt8
    /// The masking key, big endian; nil for an unmasked frame.
    public var maskingKey: UInt32?
    /// The length of the payload in bytes, as announced.
    public var payloadLength: Int
    /// Whether the length is written in the shortest form, as RFC 6455 section 5.2 requires.
    public var isMinimal: Bool
    /// The length of the header in bytes.
    public var length: Int

    /// Parses the header at the front of `bytes`. The payload length is checked before it is converted to an `Int`.
    public static func parse(_ bytes: UnsafeRawBufferPointer) -> Parsed {
        guard bytes.count >= 2 else { return .needMoreData }
        let (first, second) = (bytes[0], bytes[1])
        let short = second & 0x7F
        let extended = short == 126 ? 2 : short == 127 ? 8 : 0
        let length = 2 + extended + (second & 0x80 != 0 ? 4 : 0)
        // An impossible length is refused before the rest of the header has arrived.
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
