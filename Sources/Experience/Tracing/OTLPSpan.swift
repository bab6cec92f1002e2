import Spans
import Synchronization
import Tracing

/// A span of an ``OTLPTracer``. It is sent when it has ended, if its trace is sampled.
///
/// It keeps 128 attributes, 128 events and 128 links; the collector is told how many more there were.
public final class OTLPSpan: Tracing.Span {
    /// Has the span as its ``ServiceContext/traceContext``.
    public let context: ServiceContext
    private let identity: SpanContext
    private let kind: SpanKind
    private let start: UInt64
    private let queue: SpanQueue
    private let state: Mutex<State>

    private struct State {
        var isRecording: Bool
        var name: String
        var attributes: SpanAttributes = [:]
        var events: [SpanEvent] = []
        var links: [SpanLink] = []
        var status: SpanStatus?
        var dropped = FinishedSpan.Dropped()
    }

    /// - Parameters:
    ///   - start: in nanoseconds since the epoch.
    ///   - queue: takes the span when it has ended.
    init(
        _ name: String, _ identity: SpanContext, context: ServiceContext, kind: SpanKind, start: UInt64,
        queue: SpanQueue
    ) {
        self.context = context
        self.identity = identity
        self.kind = kind
        self.start = start
        self.queue = queue
        self.state = Mutex(State(isRecording: identity.isSampled, name: name))
    }

    /// Whether it takes attributes and events: it has not ended, and its trace is sampled.
    public var isRecording: Bool { state.withLock { $0.isRecording } }

    /// The name of what is measured.
    public var operationName: String {
        get { state.withLock { $0.name } }
        set { change { $0.name = newValue } }
    }

    /// What is known of it.
    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set {
            change {
                $0.attributes = newValue.limited
                $0.dropped.attributes += newValue.count - $0.attributes.count
            }
        }
    }

    /// Says whether it succeeded; a later call counts.
    public func setStatus(_ status: SpanStatus) {
        change { $0.status = status }
    }

    /// Adds something that happened at one moment.
    public func addEvent(_ event: SpanEvent) {
        change {
            guard $0.events.count < SpanAttributes.most else {
                $0.dropped.events += 1
                return
            }
            var event = event
            event.attributes = event.attributes.limited
            $0.events.append(event)
        }
    }

    /// Adds an event `exception` with the error's type. Its description is not sent, since it may contain anything;
    /// `attributes` are.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes.set("exception.type", value: .string(String(reflecting: type(of: error))))
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Adds a span that it has to do with. One of another kind of tracer is not sent.
    public func addLink(_ link: SpanLink) {
        change {
            guard $0.links.count < SpanAttributes.most else {
                $0.dropped.links += 1
                return
            }
            $0.links.append(SpanLink(context: link.context, attributes: link.attributes.limited))
        }
    }

    /// Ends the span; a second call does nothing.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let end = max(start, instant().nanosecondsSinceEpoch)
        let finished = state.withLock { state -> FinishedSpan? in
            guard state.isRecording else { return nil }
            state.isRecording = false
            return FinishedSpan(
                identity: identity, name: state.name, kind: kind, start: start, end: end,
                attributes: state.attributes, events: state.events, links: state.links, status: state.status,
                dropped: state.dropped)
        }
        if let finished { queue.append(finished) }
    }

    /// Changes what is recorded, as long as it is.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            if state.isRecording { body(&state) }
        }
    }
}
