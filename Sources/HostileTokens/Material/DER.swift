/// Writes the DER that keys, signatures and a certificate need.
enum DER {
    /// A SEQUENCE of parts that are DER already.
    static func sequence(_ parts: [UInt8]...) -> [UInt8] {
        tagged(0x30, parts.flatMap { $0 })
    }

    /// A SET of one part.
    static func set(_ content: [UInt8]) -> [UInt8] { tagged(0x31, content) }
    /// A BIT STRING without unused bits.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { tagged(0x03, [0] + bytes) }
    /// A UTF8String.
    static func utf8String(_ text: String) -> [UInt8] { tagged(0x0C, Array(text.utf8)) }
    /// A UTCTime in the form `YYMMDDHHMMSSZ` (RFC 5280 section 4.1.2.5.1).
    static func utcTime(_ text: String) -> [UInt8] { tagged(0x17, Array(text.utf8)) }
    /// An OBJECT IDENTIFIER, from its encoded content.
    static func objectIdentifier(_ bytes: [UInt8]) -> [UInt8] { tagged(0x06, bytes) }

    /// A non-negative INTEGER.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return tagged(0x02, digits)
    }

    private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(truncatingIfNeeded: count)] }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(truncatingIfNeeded: digits.count)] + digits
    }
}
