import Encodings

/// Small helpers over bytes.
enum Bytes {
    /// The base64url encoding of a text.
    static func base64URL(_ text: String) -> [UInt8] {
        Base64URL.encodeBytes(text.utf8)
    }

    /// The bytes with the bits of `mask` flipped at an index; nil if there is no such index.
    static func flipped(_ bytes: [UInt8], at index: Int, mask: UInt8 = 1) -> [UInt8]? {
        guard bytes.indices.contains(index) else { return nil }
        var bytes = bytes
        bytes[index] ^= mask
        return bytes
    }

    /// The bytes with percent-encoded ones decoded; what is none stays as it is.
    static func unquoted(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let high = hexDigit(digits.first),
                let low = hexDigit(digits.last)
            {
                result.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func hexDigit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(UnicodeScalar($0)).hexDigitValue }.map { UInt8($0) }
    }

    /// `count` zero bytes.
    static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, count))
    }
}
