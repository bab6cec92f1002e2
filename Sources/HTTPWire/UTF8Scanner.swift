/// Validates UTF-8 incrementally, and fails at the first byte that makes the text invalid.
///
/// Overlong forms, surrogates and code points above U+10FFFF are refused (RFC 3629).
public struct UTF8Scanner: Sendable {
    private var needed: UInt8 = 0
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// A scanner at the beginning of a text.
    public init() {}

    /// Whether the bytes so far end with a complete character.
    public var isAtBoundary: Bool { needed == 0 }

    /// Continues with one byte. False if it makes the text invalid.
    public mutating func take(_ byte: UInt8) -> Bool {
        if needed == 0 { return byte < 0x80 || begin(byte) }
        guard byte >= lowest, byte <= highest else { return false }
        needed -= 1
        lowest = 0x80
        highest = 0xBF
        return true
    }

    /// Continues with all of `bytes`. False if one of them makes the text invalid.
    public mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if needed == 0, bytes.count - position >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 == 0 {
                    position += 8
                    continue
                }
            }
            guard take(bytes[position]) else { return false }
            position += 1
        }
        return true
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: needed = 1
        case 0xE0...0xEF:
            needed = 2
            if byte == 0xE0 { lowest = 0xA0 }
            if byte == 0xED { highest = 0x9F }
        case 0xF0...0xF4:
            needed = 3
            if byte == 0xF0 { lowest = 0x90 }
            if byte == 0xF4 { highest = 0x8F }
        default: return false
        }
        return true
    }
}
