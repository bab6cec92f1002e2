import NIOCore

/// The next event of a WebSocket stream.
public enum FrameEvent: Sendable, Equatable {
    /// More bytes have to arrive first.
    case needMoreData
    /// A complete text message of valid UTF-8.
    case text(ByteBuffer)
    /// A complete binary message.
    case binary(ByteBuffer)
    /// A Ping with its payload, which a Pong must repeat (RFC 6455 section 5.5.2).
    case ping(ByteBuffer)
    /// A Pong with its payload.
    case pong(ByteBuffer)
    /// A Close. The code is nil if the payload was empty; the reason is valid UTF-8.
    case close(code: UInt16?, reason: ByteBuffer)
    /// The peer broke the protocol. The connection must be closed with this code.
    case violation(WebSocketFault)
}

/// Decodes the frames that a client sends into complete messages (RFC 6455 section 5), without extensions.
///
/// Memory is allocated for bytes that have arrived, never for a length that a header announces. A fault is reported at
/// the first byte that proves it. After a Close or a violation, all input is dropped.
public struct FrameDecoder: Sendable {
    private let maxMessage: Int
    private let maxFragments: Int
    private var frame: FrameHeader?
    private var opcode = WebSocketOpcode.continuation
    /// The number of payload bytes of `frame` that have been read.
    private var read = 0
    private var message = ByteBuffer()
    private var messageOpcode: WebSocketOpcode?
    private var fragments = 0
    private var control = ByteBuffer()
    private var utf8 = UTF8Scanner()
    private var isFinished = false

    /// A decoder for messages of at most `maxMessage` bytes in at most `maxFragments` frames.
    ///
    /// The default for `maxFragments` is one frame for every 64 bytes of `maxMessage`, but at least 1,024. Empty frames
    /// count, so that a message cannot go on without end.
    ///
    /// - Parameters:
    ///   - maxMessage: payload bytes of one message, all its frames together; a negative number counts as 0.
    ///   - maxFragments: data frames of one message. Control frames between them do not count.
    public init(maxMessage: Int, maxFragments: Int? = nil) {
        self.maxMessage = max(maxMessage, 0)
        self.maxFragments = maxFragments ?? max(1024, maxMessage / 64)
    }

    /// Whether a frame or a message has begun and is not complete, so that the deadline for progress applies.
    public var isInsideMessage: Bool { frame != nil || messageOpcode != nil }

    /// Reads the next event from `buffer`. To be called until it returns ``FrameEvent/needMoreData``.
    ///
    /// Between two calls the decoder keeps at most `maxMessage` bytes of a message that is not complete, and 125 of a
    /// control frame. A control frame between two fragments is returned before the message around it (RFC 6455 section
    /// 5.4).
    ///
    /// - Parameter buffer: what the peer sent and has not been read. Bytes are removed from its front as they are read,
    ///   also those of a message that is not complete.
    /// - Returns: one event; ``FrameEvent/violation(_:)`` and ``FrameEvent/close(code:reason:)`` are returned once, and
    ///   after them only ``FrameEvent/needMoreData``.
    public mutating func next(_ buffer: inout ByteBuffer) -> FrameEvent {
        guard !isFinished else {
            buffer.moveReaderIndex(forwardBy: buffer.readableBytes)
            return .needMoreData
        }
        do throws(WebSocketFault) {
            while try readHeader(&buffer), try readPayload(&buffer) {
                if let event = try endFrame() { return event }
            }
            return .needMoreData
        } catch {
            isFinished = true
            message = ByteBuffer()
            return .violation(error)
        }
    }

    // MARK: Headers

    private mutating func readHeader(_ buffer: inout ByteBuffer) throws(WebSocketFault) -> Bool {
        guard frame == nil else { return true }
        if let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) { try checkFirst(first) }
        if let second = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt8.self), second & 0x80 == 0 {
            throw .protocolError
        }
        switch buffer.withUnsafeReadableBytes(FrameHeader.parse) {
        case .needMoreData: return false
        case .malformed: throw .protocolError
        case .header(let header):
            try check(header)
            buffer.moveReaderIndex(forwardBy: header.length)
            frame = header
            read = 0
            return true
        }
    }

    /// Checks the first byte of a frame by itself, so that garbage is refused at once.
    private func checkFirst(_ first: UInt8) throws(WebSocketFault) {
        guard first & 0x70 == 0, let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .protocolError }
        switch opcode {
        case .continuation: if messageOpcode == nil { throw .protocolError }
        case .text, .binary: if messageOpcode != nil { throw .protocolError }
        case .close, .ping, .pong: if first & 0x80 == 0 { throw .protocolError }
        }
    }

    private mutating func check(_ header: FrameHeader) throws(WebSocketFault) {
        guard let opcode = WebSocketOpcode(rawValue: header.opcode), header.maskingKey != nil, header.isMinimal else {
            throw .protocolError
        }
        self.opcode = opcode
        guard !opcode.isControl else {
            guard header.payloadLength <= 125 else { throw .protocolError }
            return
        }
        fragments += 1
        guard header.payloadLength <= maxMessage - message.readableBytes,
            fragments <= maxFragments
        else { throw .messageTooBig }
        if opcode != .continuation { messageOpcode = opcode }
    }

    // MARK: Payloads

    /// Reads what has arrived of the payload. True when the payload is complete.
    private mutating func readPayload(_ buffer: inout ByteBuffer) throws(WebSocketFault) -> Bool {
        guard let frame, let key = frame.maskingKey else { return false }
        let count = min(frame.payloadLength - read, buffer.readableBytes)
        if count > 0 {
            buffer.withUnsafeReadableBytes { all in
                let piece = UnsafeRawBufferPointer(rebasing: all.prefix(count))
                if opcode.isControl {
                    Self.unmask(piece, key, offset: read, to: &control)
                } else {
                    Self.unmask(piece, key, offset: read, to: &message)
                }
            }
            buffer.moveReaderIndex(forwardBy: count)
            read += count
            if !opcode.isControl, messageOpcode == .text { try validateText(last: count) }
        }
        return read == frame.payloadLength
    }

    private static func unmask(
        _ piece: UnsafeRawBufferPointer, _ key: UInt32, offset: Int, to target: inout ByteBuffer
    ) {
        target.writeWithUnsafeMutableBytes(minimumWritableBytes: piece.count) { space in
            FrameMask.apply(key, from: piece, to: space, offset: offset)
            return min(piece.count, space.count)
        }
    }

    private mutating func validateText(last count: Int) throws(WebSocketFault) {
        let isValid = message.withUnsafeReadableBytes { all in
            utf8.take(UnsafeRawBufferPointer(rebasing: all.suffix(count)))
        }
        guard isValid else { throw .invalidPayload }
    }

    // MARK: Events

    private mutating func endFrame() throws(WebSocketFault) -> FrameEvent? {
        guard let frame else { return nil }
        self.frame = nil
        guard !opcode.isControl else { return try endControl() }
        guard frame.isFinal else { return nil }
        guard messageOpcode != .text || utf8.isAtBoundary else { throw .invalidPayload }
        let message = message
        let isText = messageOpcode == .text
        self.message = ByteBuffer()
        messageOpcode = nil
        fragments = 0
        return isText ? .text(message) : .binary(message)
    }

    private mutating func endControl() throws(WebSocketFault) -> FrameEvent {
        var payload = control
        control = ByteBuffer()
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default: break
        }
        isFinished = true
        message = ByteBuffer()
        guard payload.readableBytes > 0 else { return .close(code: nil, reason: payload) }
        guard let code = payload.readInteger(as: UInt16.self), WebSocketCloseCode.isLegal(code) else {
            throw .protocolError
        }
        var reason = UTF8Scanner()
        guard payload.withUnsafeReadableBytes({ reason.take($0) }), reason.isAtBoundary else { throw .invalidPayload }
        return .close(code: code, reason: payload)
    }
}
