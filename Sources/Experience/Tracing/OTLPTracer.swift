import EdgeCore
import Logging
import ServiceLifecycle
import Spans
import Tracing

/// A tracer that sends its spans to a collector, as OTLP over HTTP in its JSON form.
///
/// A gateway with `tracing.otlp` makes one itself. A program that the gateway is part of may make one for its own spans
/// as well, hand it to the gateway, and have `InstrumentationSystem` know it:
///
///     let tracer = OTLPTracer(collector: "http://127.0.0.1:4318", service: "shop", version: "1.0", logger: logger)
///     InstrumentationSystem.bootstrap(tracer)
///     let gateway = try await Gateway(configuration: configuration, realms: [], logger: logger, tracer: tracer)
///     let group = ServiceGroup(services: [tracer, gateway], logger: logger)
///
/// Services are stopped in reverse order: the tracer comes first in the list, so that it outlives the gateway. Spans
/// wait until it runs, at most 8,192; further ones are dropped. A batch that the collector does not take is dropped,
/// too.
///
/// Between processes it propagates `traceparent` of version 00, and no `tracestate`.
public struct OTLPTracer: Tracer, Service {
    /// What it starts.
    public typealias Span = OTLPSpan

    private let exporter: OTLPExporter
    private let sampling: TraceSampling

    /// - Parameters:
    ///   - collector: its origin, such as `http://127.0.0.1:4318`.
    ///   - service: the name of the program, for the collector (`service.name`).
    ///   - version: the version of the program (`service.version`).
    ///   - ratio: the share of the traces begun by this tracer that are recorded, 0 to 1. A trace that was begun
    ///     elsewhere is recorded if it is flagged sampled.
    ///   - dropped: told how many spans were dropped, each time some are; called on any thread, so it must be quick.
    public init(
        collector: String, service: String, version: String, ratio: Double = 1, logger: Logger,
        dropped: @escaping @Sendable (_ count: Int) -> Void = { _ in }
    ) {
        self.init(
            exporter: OTLPExporter(collector, service: service, version: version, logger: logger, dropped: dropped),
            ratio: ratio)
    }

    /// - Parameter ratio: the share of the traces begun by this tracer that are recorded.
    init(exporter: OTLPExporter, ratio: Double) {
        self.exporter = exporter
        self.sampling = TraceSampling(isOn: true, ratio: ratio)
    }

    /// Sends spans until a graceful shutdown or the cancellation of the task; then those that are left, for at most
    /// five seconds. To be called once, for a value and its copies.
    public func run() async {
        await cancelWhenGracefulShutdown { [exporter] in await exporter.run() }
    }

    /// Starts a span: with the identity that the context assigns, else as a child of the context's span, else as the
    /// first of a new trace.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        var own = context()
        let span = identity(under: own)
        own.assignedTraceContext = nil
        own.traceContext = span
        return OTLPSpan(
            operationName, span, context: own, kind: kind, start: instant().nanosecondsSinceEpoch,
            queue: exporter.queue)
    }

    private func identity(under context: ServiceContext) -> SpanContext {
        if let assigned = context.assignedTraceContext { return assigned }
        let span = UInt64.random(in: 1 ... .max)
        if let parent = context.traceContext {
            return SpanContext(
                traceHigh: parent.traceHigh, traceLow: parent.traceLow, span: span, parent: parent.span,
                isSampled: parent.isSampled)
        }
        return SpanContext(
            traceHigh: .random(in: 1 ... .max), traceLow: .random(in: 1 ... .max), span: span, parent: nil,
            isSampled: sampling.records(.random(in: .min ... .max)))
    }

    /// Sends the spans that have ended, without waiting for it.
    public func forceFlush() { exporter.queue.wake() }

    /// Writes the context's span as `traceparent`.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.traceContext else { return }
        let field = TraceContext.text(span.traceHigh, span.traceLow, span: span.span, isSampled: span.isSampled)
        injector.inject(field, forKey: Self.field, into: &carrier)
    }

    /// Reads `traceparent`: the spans that are started under the context continue that trace. A value that is not
    /// valid is ignored.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard var text = extractor.extract(key: Self.field, from: carrier),
            let known = text.withUTF8({ TraceContext.read(UnsafeRawBufferPointer($0)) })
        else { return }
        context.traceContext = SpanContext(
            traceHigh: known.high, traceLow: known.low, span: known.parent, parent: nil, isSampled: known.isSampled)
    }

    private static let field = "traceparent"
}
