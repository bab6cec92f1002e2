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
    /// `{ } | ^` and the backtick, which are accepted in a query besides: RFC 3986 has no place for them, but browsers do
    /// not escape them there (URL Standard, query percent-encode set). `\` is not among them, though browsers send it.
    static var rawQuery: Self { Self(low: 0, high: 0x3800_0001_4000_0000) }
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
