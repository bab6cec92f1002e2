/// A stretch of a message head, as offsets from the head's first byte.
///
/// Two 32-bit halves: a head is far shorter than 4 GiB, and a table of these is what a parsed head consists of.
package struct ByteRange: Sendable, Hashable {
    @usableFromInline var lower: UInt32
    @usableFromInline var upper: UInt32

    /// Makes the range `start..<end`; a backward range is empty.
    @inlinable
    package init(start: Int, end: Int) {
        self.lower = UInt32(clamping: start)
        self.upper = max(UInt32(clamping: end), self.lower)
    }

    /// The offset of the first byte.
    @inlinable
    package var start: Int { Int(self.lower) }

    /// The offset behind the last byte.
    @inlinable
    package var end: Int { Int(self.upper) }

    /// The number of bytes.
    @inlinable
    package var count: Int { Int(self.upper) - Int(self.lower) }

    /// Whether there is no byte in it.
    @inlinable
    package var isEmpty: Bool { self.lower == self.upper }
}
