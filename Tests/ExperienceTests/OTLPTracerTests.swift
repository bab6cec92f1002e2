import Logging
import Spans
import Synchronization
import Testing
import Tracing

@testable import Experience

@Suite("The tracer that sends to a collector, used by any code", .timeLimit(.minutes(1))) struct OTLPTracerTests {
    private let exporter = OTLPExporter(
        "http://127.0.0.1:1", service: "shop", version: "1", logger: Logger(label: "test"), dropped: { _ in })

    private var tracer: OTLPTracer { OTLPTracer(exporter: exporter, ratio: 1) }

    /// The spans that would be sent, those that ended first before the others.
    private var finished: [FinishedSpan] { exporter.queue.take(atMost: .max) }

    private struct Fault: Error {}

    @Test("A span within another is its child, in the same trace")
    func nested() throws {
        tracer.withSpan("outer", ofKind: .client) { outer in
            outer.attributes.set("rows", value: .int64(3))
            tracer.withSpan("inner") { inner in inner.addEvent(SpanEvent(name: "found")) }
        }
        let spans = finished
        #expect(spans.map(\.name) == ["inner", "outer"])
        let (inner, outer) = (try #require(spans.first), try #require(spans.last))
        #expect(outer.identity.parent == nil && outer.identity.isSampled && outer.kind == .client)
        #expect(inner.identity.parent == outer.identity.span && inner.identity.span != outer.identity.span)
        #expect(inner.identity.traceID == outer.identity.traceID && inner.kind == .internal)
        #expect(outer.attributes.get("rows") == .int64(3) && inner.events.map(\.name) == ["found"])
        #expect(outer.start <= inner.start && inner.start <= inner.end && inner.end <= outer.end)
    }

    private func makeInner() {
        tracer.withSpan("inner") { _ in }
    }

    @Test("Spans of other tasks are children as well")
    func tasks() async throws {
        await tracer.withSpan("outer") { _ in
            await Task { makeInner() }.value
        }
        let spans = finished
        #expect(spans.map(\.name) == ["inner", "outer"])
        #expect(spans.first?.identity.parent == spans.last?.identity.span)
    }

    @Test("An error is an event with its type, and never its description")
    func error() throws {
        try? tracer.withSpan("failing") { _ -> Void in throw Fault() }
        let span = try #require(finished.first)
        #expect(span.status?.code == .error && span.events.map(\.name) == ["exception"])
        let type = try #require(span.events.first?.attributes.get("exception.type"))
        #expect(span.events.first?.attributes.count == 1 && "\(type)".contains("Fault"))
    }

    @Test("An assigned identity is the span's own, and the parent of those within it")
    func assigned() throws {
        let identity = SpanContext(traceHigh: 1, traceLow: 2, span: 3, parent: 4, isSampled: true)
        var context = ServiceContext.topLevel
        context.assignedTraceContext = identity
        let span = tracer.startSpan("request", context: context)
        let child = tracer.startSpan("part", context: span.context)
        child.end()
        span.end()
        let spans = finished
        #expect(spans.last?.identity == identity)
        #expect(spans.first?.identity.parent == 3 && spans.first?.identity.traceLow == 2)
    }

    @Test("A span ends once, and changes no more then")
    func endsOnce() {
        let start = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 5)
        let span = tracer.startSpan("once", context: .topLevel, at: start)
        #expect(span.isRecording)
        // An end before the start is one at the start.
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 4))
        span.operationName = "later"
        span.addEvent(SpanEvent(name: "later"))
        span.end()
        let spans = finished
        #expect(spans.map(\.name) == ["once"] && spans.first?.end == 5 && spans.first?.events.isEmpty == true)
        #expect(!span.isRecording)
    }

    @Test("What is too much is left out and counted")
    func limits() throws {
        let span = tracer.startSpan("large", context: .topLevel)
        let many = (0..<130).map { ("key \($0)", SpanAttribute.int64(Int64($0))) }
        span.attributes = SpanAttributes(Dictionary(uniqueKeysWithValues: many))
        for _ in 0..<130 {
            span.addEvent(SpanEvent(name: "again", attributes: SpanAttributes(Dictionary(uniqueKeysWithValues: many))))
            span.addLink(SpanLink(context: .topLevel, attributes: [:]))
        }
        span.end()
        let large = try #require(finished.first)
        #expect(large.attributes.count == 128 && large.events.count == 128 && large.links.count == 128)
        #expect(large.dropped == FinishedSpan.Dropped(attributes: 2, events: 2, links: 2))
        #expect(large.events.allSatisfy { $0.attributes.count == 128 })
    }

    private final class Counter: Sendable {
        let value = Atomic<Int>(0)
    }

    @Test("At most 8,192 spans wait; those that find no room, or come after the end, are counted")
    func queue() {
        let lost = Counter()
        let queue = SpanQueue { lost.value.add($0, ordering: .relaxed) }
        let identity = SpanContext(traceHigh: 1, traceLow: 2, span: 3, parent: nil, isSampled: true)
        let span = FinishedSpan(
            identity: identity, name: "a", kind: .internal, start: 0, end: 1, attributes: [:], events: [], links: [],
            status: nil, dropped: FinishedSpan.Dropped())
        for _ in 0..<8_193 { queue.append(span) }
        #expect(queue.take(atMost: 512).count == 512 && queue.close() == 7_680)
        queue.append(span)
        #expect(queue.take(atMost: 512).isEmpty && queue.close() == 0)
        #expect(lost.value.load(ordering: .relaxed) == 1 + 7_680 + 1)
    }

    @Test("A flush wakes the exporter")
    func flush() async {
        tracer.forceFlush()
        tracer.forceFlush()
        var wakes = exporter.queue.wakes.makeAsyncIterator()
        let wake: Void? = await wakes.next()
        #expect(wake != nil)
    }

    // MARK: Between processes

    private struct Fields: Injector, Extractor {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }

    @Test("A trace goes on in the process that reads what this one has written")
    func propagation() throws {
        let span = tracer.startSpan("caller", context: .topLevel)
        var fields: [String: String] = [:]
        tracer.inject(span.context, into: &fields, using: Fields())
        let identity = try #require(span.context.traceContext)
        #expect(fields == ["traceparent": "00-\(identity.traceID)-\(identity.spanID)-01"])

        var context = ServiceContext.topLevel
        tracer.extract(fields, into: &context, using: Fields())
        let callee = try #require(tracer.startSpan("callee", context: context).context.traceContext)
        #expect(callee.traceID == identity.traceID && callee.parent == identity.span && callee.isSampled)
    }

    @Test(
        "A traceparent that is not valid begins nothing",
        arguments: [nil, "", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "01-a-b-01"] as [String?])
    func invalid(traceparent: String?) {
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": traceparent].compactMapValues { $0 }, into: &context, using: Fields())
        #expect(context.isEmpty)
        var fields: [String: String] = [:]
        tracer.inject(context, into: &fields, using: Fields())
        #expect(fields.isEmpty)
    }

    @Test("A trace that is not sampled has spans that are not recorded", arguments: [true, false])
    func unsampled(begunHere: Bool) throws {
        let none = OTLPTracer(exporter: exporter, ratio: 0)
        var context = ServiceContext.topLevel
        if !begunHere {
            let field = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
            tracer.extract(["traceparent": field], into: &context, using: Fields())
        }
        let span = (begunHere ? none : tracer).startSpan("quiet", context: context)
        #expect(!span.isRecording && span.context.traceContext?.isSampled == false)
        let child = tracer.startSpan("quiet too", context: span.context)
        child.end()
        span.end()
        #expect(finished.isEmpty)
    }
}
