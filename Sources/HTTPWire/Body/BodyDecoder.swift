import NIOCore

/// What a body decoder found.
package enum BodyEvent: Sendable {
    /// The rest of the body has not arrived.
    case needMoreData
    /// A piece of the body, sharing storage with the buffer it came from; never empty.
    case data(ByteBuffer)
    /// The body is complete; what is left in the buffer belongs to the next message.
    case end
    /// The framing is broken; the connection is of no further use.
    case failed(WireError)
}

/// Takes one message body out of a stream of bytes.
package struct BodyDecoder: Sendable {
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

    /// Makes a decoder for a body framed like this.
    package init(_ framing: BodyFraming) {
        switch framing {
        case .none: self.state = .ended
        case .length(let length):
            self.state = length > 0 ? .length : .ended
            self.remaining = length
        case .chunked: self.state = .chunks
        case .untilClose: self.state = .untilClose
        }
    }

    /// Whether the whole body has been taken out.
    package var isComplete: Bool { self.state == .ended }

    /// Takes the next piece of at most `maxSlice` bytes out of `buffer`.
    package mutating func next(_ buffer: inout ByteBuffer, maxSlice: Int = .max) -> BodyEvent {
        if let failure { return .failed(failure) }
        switch self.state {
        case .ended: return .end
        case .untilClose: return Self.slice(&buffer, upTo: maxSlice)
        case .length:
            let event = Self.slice(&buffer, upTo: Self.bound(self.remaining, maxSlice))
            if case .data(let data) = event { self.consume(data.readableBytes) }
            return event
        case .chunks: return self.nextOfChunks(&buffer, maxSlice: maxSlice)
        }
    }

    /// Takes note that the peer closed: the end of an `untilClose` body, a truncation of any other.
    package mutating func finish() -> BodyEvent {
        if let failure { return .failed(failure) }
        switch self.state {
        case .ended, .untilClose:
            self.state = .ended
            return .end
        case .length, .chunks: return self.fail(WireError(.truncatedBody, "closed before the end of the body"))
        }
    }

    private mutating func nextOfChunks(_ buffer: inout ByteBuffer, maxSlice: Int) -> BodyEvent {
        if self.remaining == 0 {
            do throws(WireError) {
                switch try self.chunks.scan(&buffer) {
                case .needMoreData: return .needMoreData
                case .chunk(let size): self.remaining = size
                case .end:
                    self.state = .ended
                    return .end
                }
            } catch {
                return self.fail(error)
            }
        }
        let event = Self.slice(&buffer, upTo: Self.bound(self.remaining, maxSlice))
        if case .data(let data) = event { self.remaining -= Int64(data.readableBytes) }
        return event
    }

    private mutating func consume(_ count: Int) {
        self.remaining -= Int64(count)
        if self.remaining <= 0 { self.state = .ended }
    }

    private mutating func fail(_ error: WireError) -> BodyEvent {
        self.failure = error
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
