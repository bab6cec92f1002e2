/// A range of bytes in a message head, as offsets from the head's first byte.
///
/// The offsets have 32 bits, because a head is at most 16 MiB and a parsed head consists of a table of these ranges.
public struct ByteRange: Sendable, Hashable {
    @usableFromInline var lower: UInt32
    @usableFromInline var upper: UInt32

    /// The range `start..<end`. If `end` is before `start`, the range is empty.
    @inlinable
    public init(start: Int, end: Int) {
        self.lower = UInt32(clamping: start)
        self.upper = max(UInt32(clamping: end), self.lower)
    }

    /// The offset of the first byte.
    @inlinable
    public var start: Int { Int(lower) }

    /// The offset after the last byte.
    @inlinable
    public var end: Int { Int(upper) }

    /// The number of bytes.
    @inlinable
    public var count: Int { Int(upper) - Int(lower) }

    /// Whether the range has no bytes.
    @inlinable
    public var isEmpty: Bool { lower == upper }
}
