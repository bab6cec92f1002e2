import NIOCore

/// Collects the spans that one event loop makes while it processes what has arrived. Confined to its loop.
final class SpanBuffer {
    private let loop: any EventLoop
    private let sink: any SpanSink
    private var spans: [RequestSpan] = []

    init(loop: any EventLoop, sink: any SpanSink) {
        self.loop = loop
        self.sink = sink
    }

    /// The span leaves with the others of this turn of the loop.
    func add(_ span: RequestSpan) {
        spans.append(span)
        guard spans.count == 1 else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute {
            let full = bound.value.spans
            bound.value.spans = []
            bound.value.sink.take(full)
        }
    }
}
