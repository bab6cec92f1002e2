import Spans
import Testing
import Tracing

@Suite("What identifies a span") struct SpanContextTests {
    private static let span = SpanContext(
        traceHigh: 0x0AF7_6519_16CD_43DD, traceLow: 0x44, span: 0x0000_AD6B_7169_2033, parent: 1, isSampled: true)

    @Test("Ids are lower-case hexadecimal digits, as many as their bytes have")
    func digits() {
        #expect(Self.span.traceID == "0af7651916cd43dd0000000000000044")
        #expect(Self.span.spanID == "0000ad6b71692033" && Self.span.parentSpanID == "0000000000000001")
        let first = SpanContext(traceHigh: .max, traceLow: 0, span: .max, parent: nil, isSampled: false)
        #expect(first.traceID == "ffffffffffffffff0000000000000000" && first.spanID == "ffffffffffffffff")
        #expect(first.parentSpanID == nil)
    }

    @Test("A context carries the current span and an assigned identity beside each other")
    func context() {
        var context = ServiceContext.topLevel
        #expect(context.traceContext == nil && context.assignedTraceContext == nil)
        context.assignedTraceContext = Self.span
        #expect(context.traceContext == nil && context.assignedTraceContext == Self.span)
        context.traceContext = Self.span
        context.assignedTraceContext = nil
        #expect(context.traceContext == Self.span && context.assignedTraceContext == nil)
    }
}
