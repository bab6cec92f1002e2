/// What identifies a span of a distributed trace (W3C Trace Context), and the span that it is a child of.
public struct SpanContext: Sendable, Hashable {
    /// The first eight bytes of the trace's id.
    public let traceHigh: UInt64
    /// The last eight bytes of the trace's id.
    public let traceLow: UInt64
    /// The span's own id.
    public let span: UInt64
    /// The id of the span that it is a child of; nil where the trace begins with it.
    public let parent: UInt64?
    /// Whether the spans of the trace are recorded.
    public let isSampled: Bool

    /// Creates an identity from its parts.
    public init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, parent: UInt64?, isSampled: Bool) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
        self.parent = parent
        self.isSampled = isSampled
    }

    /// The trace's id as 32 hexadecimal digits.
    public var traceID: String { Self.digits(of: traceHigh) + Self.digits(of: traceLow) }

    /// The span's id as 16 hexadecimal digits.
    public var spanID: String { Self.digits(of: span) }

    /// The id of the span that it is a child of as 16 hexadecimal digits.
    public var parentSpanID: String? { parent.map { Self.digits(of: $0) } }

    private static func digits(of number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
