import Spans
import Tracing

/// A span that has ended, as it is sent.
struct FinishedSpan: Sendable {
    let identity: SpanContext
    let name: String
    let kind: SpanKind
    /// In nanoseconds since the epoch, as `end`.
    let start: UInt64
    let end: UInt64
    let attributes: SpanAttributes
    let events: [SpanEvent]
    let links: [SpanLink]
    let status: SpanStatus?
    /// What found no room in the span.
    let dropped: Dropped

    /// How many attributes, events and links of a span were left out, because it had as many as it may have.
    struct Dropped: Sendable, Equatable {
        var attributes = 0
        var events = 0
        var links = 0
    }
}
