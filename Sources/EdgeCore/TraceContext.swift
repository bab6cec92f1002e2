import HTTPWire
import NIOCore

/// The part of W3C trace context that a gateway needs to start a trace or pass one on.
package enum TraceContext {
    /// Writes a `traceparent` value of version 00.
    static func write(_ high: UInt64, _ low: UInt64, span: UInt64, isSampled: Bool, to pen: inout BytePen) {
        pen.write(literal: "00-")
        writeHex(high, to: &pen)
        writeHex(low, to: &pen)
        pen.write(literal: "-")
        writeHex(span, to: &pen)
        pen.write(literal: isSampled ? "-01" : "-00")
    }

    /// The `traceparent` value of version 00.
    package static func text(_ high: UInt64, _ low: UInt64, span: UInt64, isSampled: Bool) -> String {
        String(buffer: BytePen.written(expecting: 55) { write(high, low, span: span, isSampled: isSampled, to: &$0) })
    }

    /// Reads a value that has the form of version 00; nil for any other.
    package static func read(
        _ bytes: UnsafeRawBufferPointer
    ) -> (high: UInt64, low: UInt64, parent: UInt64, isSampled: Bool)? {
        guard isValid(bytes) else { return nil }
        return (
            word(bytes[3..<19]), word(bytes[19..<35]), word(bytes[36..<52]), word(bytes[53..<55]) & 1 == 1
        )
    }

    /// The number that hexadecimal digits, at most sixteen, stand for.
    private static func word(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64 {
        digits.reduce(0) { $0 << 4 | UInt64($1 < 0x3A ? $1 &- 0x30 : $1 &- 0x57) }
    }

    /// Whether a client's value has the form of version 00, with a trace id and a parent id that aren't all zeros.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == 55, bytes[0] == UInt8(ascii: "0"), bytes[1] == UInt8(ascii: "0") else { return false }
        var (hasTrace, hasParent) = (false, false)
        for index in 0..<55 {
            let byte = bytes[index]
            if index == 2 || index == 35 || index == 52 {
                if byte != UInt8(ascii: "-") { return false }
            } else if !(0x30...0x39).contains(byte), !(0x61...0x66).contains(byte) {
                return false
            } else if byte != UInt8(ascii: "0") {
                if (3..<35).contains(index) { hasTrace = true }
                if (36..<52).contains(index) { hasParent = true }
            }
        }
        return hasTrace && hasParent
    }

    /// Writes sixteen hexadecimal digits, as the bytes of two words.
    package static func writeHex(_ number: UInt64, to buffer: inout ByteBuffer) {
        buffer.writeInteger(hexDigits(of: UInt32(truncatingIfNeeded: number >> 32)))
        buffer.writeInteger(hexDigits(of: UInt32(truncatingIfNeeded: number)))
    }

    static func writeHex(_ number: UInt64, to pen: inout BytePen) {
        pen.write(word: hexDigits(of: UInt32(truncatingIfNeeded: number >> 32)))
        pen.write(word: hexDigits(of: UInt32(truncatingIfNeeded: number)))
    }

    /// The eight digits, the first one in the highest byte: all at once, since each request has six such numbers.
    private static func hexDigits(of half: UInt32) -> UInt64 {
        // Each half byte moves into a byte of its own.
        var digits = UInt64(half)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in the bytes that are 10 or more, which letters stand for.
        let letters = ((digits &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
    }
}
