import EdgeCore
import Spans
import Tracing

extension RequestSpan {
    /// Starts and ends the span with the times and ids that it has already.
    func report(to tracer: some Tracer) {
        let start = UInt64(max(0, startedAt)) * 1_000_000
        let span = tracer.startSpan(
            method.isEmpty ? route : "\(method) \(route)", context: context(for: tracer), ofKind: .server,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start))
        span.attributes = attributes
        // Faults of the server only.
        if (status ?? 0) >= 500 { span.setStatus(SpanStatus(code: .error)) }
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start + UInt64(max(0, duration))))
    }

    /// Has the span's identity and what the tracer itself reads of the caller's `traceparent`, by which a tracer that
    /// does not know of ``ServiceContext/assignedTraceContext`` puts the span into the caller's trace.
    private func context(for tracer: some Tracer) -> ServiceContext {
        var context = ServiceContext.topLevel
        if let parent = trace.parent {
            let field = TraceContext.text(trace.high, trace.low, span: parent, isSampled: trace.isSampled)
            tracer.extract(field, into: &context, using: TraceParentExtractor())
        }
        context.assignedTraceContext = SpanContext(
            traceHigh: trace.high, traceLow: trace.low, span: trace.span, parent: trace.parent,
            isSampled: trace.isSampled)
        return context
    }

    private var attributes: SpanAttributes {
        var attributes: SpanAttributes = [:]
        func add(_ name: RequestAttribute, _ value: SpanAttribute?) {
            attributes.set(name.rawValue, value: value)
        }
        add(.route, .string(route))
        add(.requestID, .string(requestID))
        add(.method, method.isEmpty ? nil : .string(method))
        add(.path, path.map { .string($0) })
        add(.status, status.map { .int64(Int64($0)) })
        add(.refusal, code.map { .string($0) })
        add(.client, client.map { .string($0) })
        add(.upstream, upstream.map { .string($0) })
        add(.upstreamTime, upstreamTime.map { .int64($0) })
        return attributes
    }
}

/// A carrier that is the value of `traceparent` and nothing else.
private struct TraceParentExtractor: Extractor {
    func extract(key: String, from carrier: String) -> String? {
        key.lowercased() == "traceparent" ? carrier : nil
    }
}
