/// Eight bytes that are tested at once by arithmetic on one 64-bit word.
struct EightBytes {
    /// The bytes, the first one lowest.
    let word: UInt64

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Loads eight bytes at an offset of a buffer; nil if fewer are left.
    @inline(__always)
    init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        guard offset >= 0, offset <= bytes.count - 8 else { return nil }
        word = UInt64(
            littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The top bit of every byte that is not ASCII.
    @inline(__always)
    var notASCII: UInt64 { word & Self.highs }

    /// The top bit of the first byte that ends the plain text of a JSON string: a quote, a backslash or a control
    /// character. 0 if there is none.
    ///
    /// Only the lowest bit set is exact: a borrow of the subtraction may set bits above it.
    @inline(__always)
    var stringEnds: UInt64 {
        let controls = (word &- 0x20 &* Self.ones) & ~word
        return
            (Self.zeros(word ^ UInt64(UInt8(ascii: "\"")) &* Self.ones)
            | Self.zeros(word ^ UInt64(UInt8(ascii: "\\")) &* Self.ones) | controls) & Self.highs
    }

    /// The top bit of the first byte equal to `byte`; 0 if there is none. Only the lowest bit set is exact.
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
    /// The index of the first `byte` at or after an offset, or nil.
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
