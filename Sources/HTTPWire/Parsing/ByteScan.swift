/// Searches and comparisons that several parsers share.
enum ByteScan {
    /// The first position in `start..<end` of a byte that is not allowed in a field value, or `end`.
    ///
    /// It tests eight bytes at a time, because values (cookies, user agents) are most of a head. The test also flags a
    /// tab, which is allowed and therefore skipped.
    @inline(__always)
    static func endOfFieldContent(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        var position = start
        while end &- position >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let controls = (word &- ones &* 0x20) & ~word & tops
            let flipped = word ^ (ones &* 0x7F)
            let deletes = (flipped &- ones) & ~flipped & tops
            let flagged = controls | deletes
            if flagged == 0 {
                position &+= 8
                continue
            }
            position &+= flagged.trailingZeroBitCount &>> 3
            guard bytes[position] == Byte.tab else { return position }
            position &+= 1
        }
        while position < end, bytes[position].isFieldContent { position &+= 1 }
        return position
    }

    /// Whether the bytes of `range` are `lowercase` in any case.
    @inline(__always)
    static func equals(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange, _ lowercase: StaticString) -> Bool {
        guard range.count == lowercase.utf8CodeUnitCount else { return false }
        return hasPrefix(bytes, range, lowercase)
    }

    /// Whether the bytes of `range` begin with `lowercase` in any case.
    @inline(__always)
    static func hasPrefix(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange, _ lowercase: StaticString) -> Bool {
        let count = lowercase.utf8CodeUnitCount
        guard range.count >= count, lowercase.hasPointerRepresentation else { return false }
        let expected = lowercase.utf8Start
        for index in 0..<count where bytes[range.start &+ index].asciiLowercased != expected[index] { return false }
        return true
    }

    /// Whether two ranges hold the same bytes, ignoring the case of letters.
    static func equals(_ bytes: UnsafeRawBufferPointer, _ first: ByteRange, _ second: ByteRange) -> Bool {
        guard first.count == second.count else { return false }
        for index in 0..<first.count
        where bytes[first.start + index].asciiLowercased != bytes[second.start + index].asciiLowercased {
            return false
        }
        return true
    }

    /// The position of the first `byte` in `range`, or nil.
    static func firstIndex(of byte: UInt8, _ bytes: UnsafeRawBufferPointer, _ range: ByteRange) -> Int? {
        var position = range.start
        while position < range.end {
            if bytes[position] == byte { return position }
            position += 1
        }
        return nil
    }
}
