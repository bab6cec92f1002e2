import NIOCore

/// Follows the frame borders of a relayed stream, one direction, without holding or changing any byte.
///
/// A relay that must end a socket forwards up to the next border and puts its own Close there. Nothing is judged but
/// what would lose the borders: a length that cannot be.
package struct FrameTracker: Sendable {
    /// How far a piece of the stream was followed.
    package struct Progress: Sendable, Equatable {
        /// How many bytes belong to frames that may be forwarded.
        package var consumed: Int
        /// Whether the byte behind them begins a frame.
        package var isAtBoundary: Bool
    }

    private var headerBytes: (UInt64, UInt64) = (0, 0)
    private var headerCount = 0
    private var payloadLeft = 0
    private var isCloseFrame = false
    private var isBroken = false
    /// Whether a whole Close frame has gone by: nothing may be put behind it.
    package private(set) var hasSeenClose = false

    package init() {}

    /// Whether the next byte begins a frame.
    package var isAtBoundary: Bool { self.headerCount == 0 && self.payloadLeft == 0 && !self.isBroken }

    /// Follows all of `bytes`.
    package mutating func advance(over bytes: ByteBuffer) -> Result<Progress, WebSocketFault> {
        bytes.withUnsafeReadableBytes { self.follow($0, stopsAtBoundary: false) }
    }

    /// Follows `bytes` to the end of the frame that is under way; what is behind it is not consumed.
    ///
    /// At a border nothing is consumed.
    package mutating func advanceToBoundary(over bytes: ByteBuffer) -> Result<Progress, WebSocketFault> {
        guard !self.isAtBoundary else { return .success(Progress(consumed: 0, isAtBoundary: true)) }
        return bytes.withUnsafeReadableBytes { self.follow($0, stopsAtBoundary: true) }
    }

    private mutating func follow(
        _ bytes: UnsafeRawBufferPointer, stopsAtBoundary: Bool
    ) -> Result<Progress, WebSocketFault> {
        var position = 0
        while position < bytes.count {
            guard !self.isBroken else { return .failure(.protocolError) }
            if self.payloadLeft > 0 {
                let step = min(self.payloadLeft, bytes.count - position)
                self.payloadLeft -= step
                position += step
            } else {
                self.takeHeaderByte(bytes[position])
                position += 1
            }
            guard self.isAtBoundary else { continue }
            if self.isCloseFrame { self.hasSeenClose = true }
            if stopsAtBoundary { break }
        }
        guard !self.isBroken else { return .failure(.protocolError) }
        return .success(Progress(consumed: position, isAtBoundary: self.isAtBoundary))
    }

    private mutating func takeHeaderByte(_ byte: UInt8) {
        withUnsafeMutableBytes(of: &self.headerBytes) { $0[self.headerCount] = byte }
        self.headerCount += 1
        let parsed = withUnsafeBytes(of: &self.headerBytes) { all in
            FrameHeader.parse(UnsafeRawBufferPointer(rebasing: all.prefix(self.headerCount)))
        }
        switch parsed {
        case .needMoreData: break
        case .malformed: self.isBroken = true
        case .header(let header):
            self.headerCount = 0
            self.payloadLeft = header.payloadLength
            self.isCloseFrame = header.opcode == WebSocketOpcode.close.rawValue
        }
    }
}
