/// Eight bytes looked at in one go: bit tricks of one kind in one place.
struct EightBytes {
    /// The first byte is the lowest.
    let word: UInt64

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// The bytes of a buffer from an offset on; nil if there are no eight.
    @inline(__always)
    init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        guard offset >= 0, offset <= bytes.count - 8 else { return nil }
        word = UInt64(
            littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The top bit of each byte that is not ASCII.
    @inline(__always)
    var notASCII: UInt64 { word & Self.highs }

    /// Marks the first byte that ends the plain text of a JSON string: a quote, a backslash or a control character.
    ///
    /// The lowest mark is exact; a borrow may set marks above it.
    @inline(__always)
    var stringEnds: UInt64 {
        let controls = (word &- 0x20 &* Self.ones) & ~word
        return
            (Self.zeros(word ^ UInt64(UInt8(ascii: "\"")) &* Self.ones)
            | Self.zeros(word ^ UInt64(UInt8(ascii: "\\")) &* Self.ones) | controls) & Self.highs
    }

    /// Marks the first byte that is this one; the lowest mark is exact.
    @inline(__always)
    func marks(of byte: UInt8) -> UInt64 {
        Self.zeros(word ^ UInt64(byte) &* Self.ones) & Self.highs
    }

    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 {
        (word &- ones) & ~word
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The place of the first `byte` from an offset on.
    package func firstPlace(of byte: UInt8, from offset: Int) -> Int? {
        var offset = offset
        while let eight = EightBytes(self, at: offset) {
            let marks = eight.marks(of: byte)
            if marks != 0 { return offset &+ marks.trailingZeroBitCount &>> 3 }
            offset &+= 8
        }
        while offset < count {
            if self[offset] == byte { return offset }
            offset &+= 1
        }
        return nil
    }
}
