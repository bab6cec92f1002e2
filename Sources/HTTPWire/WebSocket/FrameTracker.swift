import NIOCore

/// Follows the frame boundaries in one direction of a relayed WebSocket, without keeping or changing bytes.
///
/// A relay that has to end a socket forwards bytes up to the next boundary and sends its own Close there. Nothing is
/// checked except impossible lengths, after which the boundaries would be unknown.
public struct FrameTracker: Sendable {
    /// The result of following a piece of the stream.
    public struct Progress: Sendable, Equatable {
        /// The number of bytes that were followed and may be forwarded.
        public var consumed: Int
        /// Whether the next byte begins a frame.
        public var isAtBoundary: Bool
    }

    private var headerBytes: (UInt64, UInt64) = (0, 0)
    private var headerCount = 0
    private var payloadLeft = 0
    private var isCloseFrame = false
    private var isBroken = false
    /// Whether a complete Close frame has been followed. Nothing may be sent after it (RFC 6455 section 5.5.1).
    public private(set) var hasSeenClose = false

    /// A tracker at the beginning of a stream.
    public init() {}

    /// Whether the next byte begins a frame. False for good after an impossible length.
    public var isAtBoundary: Bool { headerCount == 0 && payloadLeft == 0 && !isBroken }

    /// Follows all of `bytes`. Fails with ``WebSocketFault/protocolError`` at an impossible length.
    ///
    /// - Parameter bytes: the next piece of the stream; all of its readable bytes are consumed on success.
    public mutating func advance(over bytes: ByteBuffer) -> Result<Progress, WebSocketFault> {
        bytes.withUnsafeReadableBytes { follow($0, stopsAtBoundary: false) }
    }

    /// Follows `bytes` up to the end of the current frame and consumes nothing after it. At a boundary it consumes
    /// nothing.
    public mutating func advanceToBoundary(over bytes: ByteBuffer) -> Result<Progress, WebSocketFault> {
        guard !isAtBoundary else { return .success(Progress(consumed: 0, isAtBoundary: true)) }
        return bytes.withUnsafeReadableBytes { follow($0, stopsAtBoundary: true) }
    }

    private mutating func follow(
        _ bytes: UnsafeRawBufferPointer, stopsAtBoundary: Bool
    ) -> Result<Progress, WebSocketFault> {
        var position = 0
        while position < bytes.count {
            guard !isBroken else { return .failure(.protocolError) }
            if payloadLeft > 0 {
                let step = min(payloadLeft, bytes.count - position)
                payloadLeft -= step
                position += step
            } else {
                takeHeaderByte(bytes[position])
                position += 1
            }
            guard isAtBoundary else { continue }
            if isCloseFrame { hasSeenClose = true }
            if stopsAtBoundary { break }
        }
        guard !isBroken else { return .failure(.protocolError) }
        return .success(Progress(consumed: position, isAtBoundary: isAtBoundary))
    }

    private mutating func takeHeaderByte(_ byte: UInt8) {
        withUnsafeMutableBytes(of: &headerBytes) { $0[headerCount] = byte }
        headerCount += 1
        let parsed = withUnsafeBytes(of: &headerBytes) { all in
            FrameHeader.parse(UnsafeRawBufferPointer(rebasing: all.prefix(headerCount)))
        }
        switch parsed {
        case .needMoreData: break
        case .malformed: isBroken = true
        case .header(let header):
            headerCount = 0
            payloadLeft = header.payloadLength
            isCloseFrame = header.opcode == WebSocketOpcode.close.rawValue
        }
    }
}
