import HTTPWire
import NIOCore

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
