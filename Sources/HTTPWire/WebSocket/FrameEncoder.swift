import NIOCore

/// Writes WebSocket frames: unmasked as a server sends them, or masked with a key as a client must (RFC 6455 section
/// 5.3).
public enum FrameEncoder {
    /// The longest reason that fits in a Close, in bytes.
    public static let maxReason = 123

    /// Writes a message as one frame, or a control frame.
    ///
    /// - Parameters:
    ///   - opcode: anything but ``WebSocketOpcode/continuation``, because every message is one frame here.
    ///   - payload: at most 125 bytes for a control frame (RFC 6455 section 5.5); this is not checked.
    ///   - maskingKey: unpredictable and new for each frame (RFC 6455 section 5.3); nil when writing as the server.
    public static func write(
        _ opcode: WebSocketOpcode, _ payload: ByteBuffer, maskingKey: UInt32? = nil, to buffer: inout ByteBuffer
    ) {
        header(opcode, length: payload.readableBytes, maskingKey: maskingKey, to: &buffer)
        guard let maskingKey else {
            buffer.writeImmutableBuffer(payload)
            return
        }
        payload.withUnsafeReadableBytes { bytes in
            _ = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count) { space in
                FrameMask.apply(maskingKey, from: bytes, to: space, offset: 0)
                return bytes.count
            }
        }
    }

    /// Writes a text message as one unmasked frame.
    public static func text(_ text: String, to buffer: inout ByteBuffer) {
        header(.text, length: text.utf8.count, maskingKey: nil, to: &buffer)
        buffer.writeString(text)
    }

    /// Writes a Close. A reason longer than ``maxReason`` is cut off at a character.
    ///
    /// - Parameter code: a code that ``WebSocketCloseCode/isLegal(_:)`` accepts; this is not checked.
    public static func close(
        code: UInt16, reason: String = "", maskingKey: UInt32? = nil, to buffer: inout ByteBuffer
    ) {
        var payload = ByteBuffer()
        payload.writeInteger(code)
        for scalar in reason.unicodeScalars {
            let encoded = UTF8.encode(scalar)
            guard let encoded, payload.readableBytes + encoded.count <= Self.maxReason + 2 else { break }
            payload.writeBytes(encoded)
        }
        write(.close, payload, maskingKey: maskingKey, to: &buffer)
    }

    /// Writes the header of a frame that is a whole message. The caller writes the payload of `length` bytes after it.
    public static func header(
        _ opcode: WebSocketOpcode, length: Int, maskingKey: UInt32?, to buffer: inout ByteBuffer
    ) {
        let mask: UInt8 = maskingKey == nil ? 0 : 0x80
        buffer.writeInteger(0x80 | opcode.rawValue)
        switch length {
        case ..<126: buffer.writeInteger(mask | UInt8(truncatingIfNeeded: max(length, 0)))
        case ..<0x1_0000:
            buffer.writeInteger(mask | 126)
            buffer.writeInteger(UInt16(truncatingIfNeeded: length))
        default:
            buffer.writeInteger(mask | 127)
            buffer.writeInteger(UInt64(truncatingIfNeeded: length))
        }
        if let maskingKey { buffer.writeInteger(maskingKey) }
    }
}
