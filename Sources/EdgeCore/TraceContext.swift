import NIOCore

/// The part of W3C trace context that a gateway needs to start a trace or pass one on.
package enum TraceContext {
    /// Writes a `traceparent` value of version 00 that says that the trace is not recorded.
    package static func write(_ high: UInt64, _ low: UInt64, span: UInt64, to buffer: inout ByteBuffer) {
        buffer.writeStaticString("00-")
        writeHex(high, to: &buffer)
        writeHex(low | 1, to: &buffer)
        buffer.writeStaticString("-")
        writeHex(span | 1, to: &buffer)
        buffer.writeStaticString("-00")
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
    private static func writeHex(_ number: UInt64, to buffer: inout ByteBuffer) {
        buffer.writeInteger(hexDigits(of: UInt32(truncatingIfNeeded: number >> 32)))
        buffer.writeInteger(hexDigits(of: UInt32(truncatingIfNeeded: number)))
    }

    private static func hexDigits(of half: UInt32) -> UInt64 {
        var digits: UInt64 = 0
        for place in 0..<8 {
            let nibble = UInt64(half >> UInt32(28 - 4 * place)) & 0x0F
            digits = digits << 8 | (nibble < 10 ? nibble + 0x30 : nibble - 10 + 0x61)
        }
        return digits
    }
}

/// Makes the new traces of one event loop.
package final class TraceSource {
    private var traceState = UInt64.random(in: .min ... .max)

    /// Creates a source that begins at a random state.
    package init() {}

    /// Writes a new trace, for a request that has none. Trace ids must differ, but need not be hard to guess.
    package func writeTraceparent(to buffer: inout ByteBuffer) {
        TraceContext.write(nextTraceWord(), nextTraceWord(), span: nextTraceWord(), to: &buffer)
    }

    /// The next number of SplitMix64.
    private func nextTraceWord() -> UInt64 {
        traceState &+= 0x9E37_79B9_7F4A_7C15
        var word = traceState
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
