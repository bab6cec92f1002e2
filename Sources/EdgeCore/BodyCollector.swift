import HTTPWire
import NIOCore

/// Collects the body of a request that is answered as a whole, up to a limit.
package struct BodyCollector {
    /// How many bytes are taken at most.
    package let limit: Int
    private var buffer = ByteBuffer()

    /// Creates a collector without a body.
    package init(limit: Int) { self.limit = limit }

    /// Whether nothing was collected.
    package var isEmpty: Bool { buffer.readableBytes == 0 }

    /// Whether the length that a head announces is taken. One that it does not announce may still turn out too large.
    package func takes(_ framing: BodyFraming) -> Bool {
        if case .length(let count) = framing { count <= limit } else { true }
    }

    /// Keeps a part.
    ///
    /// - Returns: false, without keeping it, where the body is too large with it.
    package mutating func append(_ part: ByteBuffer) -> Bool {
        guard part.readableBytes <= limit - buffer.readableBytes else { return false }
        buffer.writeImmutableBuffer(part)
        return true
    }

    /// The whole body. Afterwards nothing is kept.
    package mutating func take() -> [UInt8] {
        defer { buffer = ByteBuffer() }
        return Array(buffer.readableBytesView)
    }
}
