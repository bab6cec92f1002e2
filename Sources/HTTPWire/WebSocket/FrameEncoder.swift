import NIOCore

/// Writes whole frames: unmasked as a server, masked when a key is given, as a client must.
package enum FrameEncoder {
    /// The longest reason that a Close has room for.
    package static let maxReason = 123

    /// Writes one final frame.
    package static func write(
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

    /// Writes one text message.
    package static func text(_ text: String, to buffer: inout ByteBuffer) {
        header(.text, length: text.utf8.count, maskingKey: nil, to: &buffer)
        buffer.writeString(text)
    }

    /// Writes a Close; a reason that is too long ends before the first character that does not fit.
    package static func close(
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

    /// Writes the header of a final frame whose payload the caller writes behind it.
    package static func header(
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
