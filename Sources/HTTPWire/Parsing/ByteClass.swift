/// A set of ASCII bytes as a mask of 128 bits. Bytes from 0x80 on belong to no set.
struct ByteClass: Sendable {
    var low: UInt64
    var high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let half = byte < 64 ? low : high
        return byte < 128 && (half &>> UInt64(byte & 63)) & 1 == 1
    }
}

// Computed properties, so that the masks are immediate operands: a stored static property is checked for initialisation
// on each access.
extension ByteClass {
    /// `tchar` (RFC 9110 section 5.6.2).
    static var token: Self { Self(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
    /// `tchar` without lower-case letters: no registered method has them.
    static var method: Self { Self(low: 0x03FF_6CFA_0000_0000, high: 0x5000_0001_C7FF_FFFE) }
    /// The bytes of a request target: RFC 3986 reserved (without `#`), unreserved and `%`.
    static var target: Self { Self(low: 0xAFFF_FFF2_0000_0000, high: 0x47FF_FFFE_AFFF_FFFF) }
    /// The bytes accepted in a host name: RFC 3986 unreserved, without sub-delimiters and escapes.
    static var host: Self { Self(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }
    /// The bytes between the brackets of an IPv6 address.
    static var address: Self { Self(low: 0x07FF_4000_0000_0000, high: 0x0000_007E_0000_007E) }
    /// RFC 3986 `pchar` without `%` and `.`. A path of these bytes and single slashes is canonical already.
    static var pathPlain: Self { Self(low: 0x2FFF_3FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }
    /// Letters, digits and hyphen: see ``HeaderField/hasPlainName``.
    static var plainName: Self { Self(low: 0x03FF_2000_0000_0000, high: 0x07FF_FFFE_07FF_FFFE) }
    /// The base64 alphabet (RFC 4648 section 4), without padding.
    static var base64: Self { Self(low: 0x03FF_8800_0000_0000, high: 0x07FF_FFFE_07FF_FFFE) }
}

/// The bytes that have a name in the grammar.
enum Byte {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var quote: UInt8 { 0x22 }
    static var percent: UInt8 { 0x25 }
    static var ampersand: UInt8 { 0x26 }
    static var asterisk: UInt8 { 0x2A }
    static var comma: UInt8 { 0x2C }
    static var dot: UInt8 { 0x2E }
    static var slash: UInt8 { 0x2F }
    static var zero: UInt8 { 0x30 }
    static var colon: UInt8 { 0x3A }
    static var semicolon: UInt8 { 0x3B }
    static var equals: UInt8 { 0x3D }
    static var questionMark: UInt8 { 0x3F }
    static var openBracket: UInt8 { 0x5B }
    static var backslash: UInt8 { 0x5C }
    static var closeBracket: UInt8 { 0x5D }
    static var delete: UInt8 { 0x7F }
}

extension UInt8 {
    /// Space or horizontal tab.
    @inline(__always)
    var isOptionalWhitespace: Bool { self == Byte.space || self == Byte.tab }

    @inline(__always)
    var isDigit: Bool { self &- Byte.zero < 10 }

    /// Whether the byte is allowed in a field value or a reason phrase: HTAB, SP, VCHAR or obs-text (RFC 9110 section
    /// 5.5).
    @inline(__always)
    var isFieldContent: Bool { self >= Byte.space ? self != Byte.delete : self == Byte.tab }

    @inline(__always)
    var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    /// The value of a hexadecimal digit in either case, or nil.
    @inline(__always)
    var hexValue: UInt8? {
        if isDigit { return self &- Byte.zero }
        let letter = self | 0x20
        return letter &- 0x61 < 6 ? letter &- 0x61 &+ 10 : nil
    }
}

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
