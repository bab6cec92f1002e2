import Tracing

extension ServiceContext {
    /// The span that code under this context belongs to: the one that was started last, or the caller's, as an
    /// `OTLPTracer` read it from a `traceparent`. A span that is started under this context is its child.
    public var traceContext: SpanContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    /// The identity that the span which is started under this context takes; it is not a parent.
    ///
    /// The gateway chooses the ids of a request's span when the request arrives, since it forwards them to the upstream
    /// in `traceparent`. It starts and ends the span when the request is over. A tracer that gives the span other ids
    /// separates it from the spans of the upstream.
    public var assignedTraceContext: SpanContext? {
        get { self[AssignedTraceContextKey.self] }
        set { self[AssignedTraceContextKey.self] = newValue }
    }
}

private enum TraceContextKey: ServiceContextKey {
    typealias Value = SpanContext
    static var nameOverride: String? { "gatehouse-trace-context" }
}

private enum AssignedTraceContextKey: ServiceContextKey {
    typealias Value = SpanContext
    static var nameOverride: String? { "gatehouse-assigned-trace-context" }
}
