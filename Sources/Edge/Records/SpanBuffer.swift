import NIOCore
import Tracing

/// Collects the spans that one event loop makes while it processes what has arrived. Confined to its loop.
final class SpanBuffer {
    private let loop: any EventLoop
    private let tracer: any Tracer
    private var spans: [RequestSpan] = []

    /// - Parameter tracer: is given the spans on the loop, and must not wait.
    init(loop: any EventLoop, tracer: any Tracer) {
        self.loop = loop
        self.tracer = tracer
    }

    /// The span leaves with the others of this turn of the loop.
    func add(_ span: RequestSpan) {
        spans.append(span)
        guard spans.count == 1 else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute {
            let full = bound.value.spans
            bound.value.spans = []
            SpanBuffer.report(full, to: bound.value.tracer)
        }
    }

    /// Generic, so that the tracer's type is looked up once for all spans of a turn.
    private static func report(_ spans: [RequestSpan], to tracer: some Tracer) {
        for span in spans { span.report(to: tracer) }
    }
}
