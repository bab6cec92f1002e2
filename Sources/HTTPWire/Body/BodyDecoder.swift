import NIOCore

/// The next event of a message body.
public enum BodyEvent: Sendable {
    /// More of the body has to arrive first.
    case needMoreData
    /// A piece of the body. It shares storage with the buffer it was read from, and is never empty.
    case data(ByteBuffer)
    /// The body is complete. What is left in the buffer belongs to the next message.
    case end
    /// The framing is broken. The connection cannot be used any further, because the end of the message is unknown.
    case failed(WireError)
}

/// Reads one message body from a stream of bytes (RFC 9112 section 6).
public struct BodyDecoder: Sendable {
    private enum State: UInt8, Sendable {
        case length
        case chunks
        case untilClose
        case ended
    }

    private var state: State
    private var remaining: Int64 = 0
    private var chunks = ChunkScanner()
    private var failure: WireError?

    /// A decoder for one body with this framing.
    public init(_ framing: BodyFraming) {
        switch framing {
        case .none: self.state = .ended
        case .length(let length):
            self.state = length > 0 ? .length : .ended
            self.remaining = length
        case .chunked: self.state = .chunks
        case .untilClose: self.state = .untilClose
        }
    }

    /// Whether the whole body has been read.
    public var isComplete: Bool { state == .ended }

    /// Reads the next piece, of at most `maxSlice` bytes, from `buffer`. A failure is final: every later call returns
    /// it again.
    ///
    /// - Parameters:
    ///   - buffer: what has arrived of the body; bytes are removed from its front as they are returned.
    ///   - maxSlice: the most bytes in one ``BodyEvent/data(_:)``. A number below 1 counts as 1, so that every call
    ///     makes progress.
    public mutating func next(_ buffer: inout ByteBuffer, maxSlice: Int = .max) -> BodyEvent {
        if let failure { return .failed(failure) }
        switch state {
        case .ended: return .end
        case .untilClose: return Self.slice(&buffer, upTo: maxSlice)
        case .length:
            let event = Self.slice(&buffer, upTo: Self.bound(remaining, maxSlice))
            if case .data(let data) = event { consume(data.readableBytes) }
            return event
        case .chunks: return nextOfChunks(&buffer, maxSlice: maxSlice)
        }
    }

    /// Tells the decoder that the peer closed the connection, which ends an ``BodyFraming/untilClose`` body and
    /// truncates any other.
    ///
    /// - Returns: ``BodyEvent/end``, or ``BodyEvent/failed(_:)`` with ``WireError/Code/truncatedBody``. A truncated
    ///   response must not be passed on as a complete one (RFC 9112 section 8).
    public mutating func finish() -> BodyEvent {
        if let failure { return .failed(failure) }
        switch state {
        case .ended, .untilClose:
            state = .ended
            return .end
        case .length, .chunks: return fail(WireError(.truncatedBody, "closed before the end of the body"))
        }
    }

    private mutating func nextOfChunks(_ buffer: inout ByteBuffer, maxSlice: Int) -> BodyEvent {
        if remaining == 0 {
            do throws(WireError) {
                switch try chunks.scan(&buffer) {
                case .needMoreData: return .needMoreData
                case .chunk(let size): remaining = size
                case .end:
                    state = .ended
                    return .end
                }
            } catch {
                return fail(error)
            }
        }
        let event = Self.slice(&buffer, upTo: Self.bound(remaining, maxSlice))
        if case .data(let data) = event { remaining -= Int64(data.readableBytes) }
        return event
    }

    private mutating func consume(_ count: Int) {
        remaining -= Int64(count)
        if remaining <= 0 { state = .ended }
    }

    private mutating func fail(_ error: WireError) -> BodyEvent {
        failure = error
        return .failed(error)
    }

    private static func bound(_ remaining: Int64, _ maxSlice: Int) -> Int {
        min(Int(clamping: remaining), maxSlice)
    }

    private static func slice(_ buffer: inout ByteBuffer, upTo limit: Int) -> BodyEvent {
        let count = min(buffer.readableBytes, max(limit, 1))
        guard count > 0, let data = buffer.readSlice(length: count) else { return .needMoreData }
        return .data(data)
    }
}
