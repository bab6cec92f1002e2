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

    /// Reads a value that has the form of version 00; nil for any other.
    static func read(
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

/// The trace that one request belongs to (W3C Trace Context): the client's, where it sent a valid one, else a new one.
package struct RequestTrace: Sendable, Equatable {
    /// The first half of the trace id.
    package let high: UInt64
    /// The second half of the trace id.
    package let low: UInt64
    /// The id of the gateway's own span.
    package let span: UInt64
    /// The span of the caller; nil where the trace begins here.
    package let parent: UInt64?
    /// Whether the spans of the trace are recorded.
    package let isSampled: Bool
    /// Whether the upstream is told of the gateway's span. If not, a valid `traceparent` is forwarded as it came.
    package let isRecorded: Bool

    /// Creates a trace from its parts.
    package init(high: UInt64, low: UInt64, span: UInt64, parent: UInt64?, isSampled: Bool, isRecorded: Bool) {
        self.high = high
        self.low = low
        self.span = span
        self.parent = parent
        self.isSampled = isSampled
        self.isRecorded = isRecorded
    }

    /// Writes the trace id as 32 hexadecimal digits.
    package func writeID(to pen: inout BytePen) {
        TraceContext.writeHex(high, to: &pen)
        TraceContext.writeHex(low, to: &pen)
    }

    /// Writes the trace id as 32 hexadecimal digits.
    package func writeID(to buffer: inout ByteBuffer) {
        TraceContext.writeHex(high, to: &buffer)
        TraceContext.writeHex(low, to: &buffer)
    }

    /// Writes the value of `traceparent` for an upstream: the gateway's span is its parent.
    package func write(to pen: inout BytePen) {
        TraceContext.write(high, low, span: span, isSampled: isSampled, to: &pen)
    }
}

/// Decides which traces are recorded. `tracing.ratio` counts for new traces only: a client's decision is kept.
package struct TraceSampling: Sendable, Equatable {
    /// New traces are recorded whose random word is below this; 0 for none.
    private let threshold: UInt64
    /// Whether spans are sent anywhere.
    package let isOn: Bool

    /// Nothing is recorded.
    package static let off = TraceSampling(isOn: false, ratio: 0)

    /// - Parameter ratio: the share of new traces that are recorded, 0 to 1.
    package init(isOn: Bool, ratio: Double) {
        self.isOn = isOn
        let bounded = min(max(ratio, 0), 1)
        threshold = bounded >= 1 ? .max : UInt64(bounded * 18_446_744_073_709_549_568)
    }

    /// Whether a new trace is recorded.
    func records(_ word: UInt64) -> Bool { isOn && threshold > 0 && (threshold == .max || word < threshold) }
}

/// Makes the traces of one event loop.
package final class TraceSource {
    private var traceState = UInt64.random(in: .min ... .max)

    /// Creates a source that begins at a random state.
    package init() {}

    /// The trace of a request: that of its `traceparent`, if it has one that is valid, else a new one. Trace ids must
    /// differ, but need not be hard to guess.
    package func trace(of head: RequestHead, _ sampling: TraceSampling) -> RequestTrace {
        if head.present.contains(.traceparent), let field = head.only(.traceparent),
            head.connectionNominated.isEmpty || !head.isNominated(field, by: head.connectionNominated),
            let known = head.withBytes(field.value, { TraceContext.read($0) })
        {
            return RequestTrace(
                high: known.high, low: known.low, span: nextWord() | 1, parent: known.parent,
                isSampled: known.isSampled, isRecorded: known.isSampled && sampling.isOn)
        }
        let isSampled = sampling.records(nextWord())
        return RequestTrace(
            high: nextWord(), low: nextWord() | 1, span: nextWord() | 1, parent: nil, isSampled: isSampled,
            isRecorded: isSampled)
    }

    /// The next number of SplitMix64.
    private func nextWord() -> UInt64 {
        traceState &+= 0x9E37_79B9_7F4A_7C15
        var word = traceState
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
