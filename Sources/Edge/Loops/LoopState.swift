import AdminAPI
import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore
import Proxy
import SecurityGuard
import Tracing

/// The state that one event loop keeps for itself, so that the data plane shares no state and takes no locks.
///
/// Confined to its loop.
package final class LoopState {
    /// The event loop.
    package let loop: any EventLoop
    /// What the current configuration says; nil until the edge is built.
    package private(set) var snapshot: EdgeSnapshot?
    /// The leases of the loop's sockets and streams.
    package let leases: LeaseTable
    /// Hands written bytes to the kernel.
    package let flushes: FlushQueue
    /// Asks the store what requests depend on.
    let questions: StoreQuestions
    /// Milliseconds since the Unix epoch.
    package let now: @Sendable () -> Int64
    /// The deadlines of the loop's connections.
    package let deadlines = DeadlineWheel()
    /// Counts the requests of the loop.
    let meters: LoopMeters
    /// Takes the lines of the access log; nil where it is off.
    package let accessLog: AccessLogBuffer?
    /// Takes the spans of recorded traces; nil where tracing is off.
    let spans: SpanBuffer?
    /// The open connections and streams.
    package var connections: [ObjectIdentifier: EdgeConnection] = [:]
    /// The open HTTP/2 connections; their streams are among `connections`. An entry goes when its connection is closed.
    package var http2Connections: [ObjectIdentifier: HTTP2ConnectionCloser] = [:]
    /// How many connections were accepted and carry no requests yet; see ``PendingConnection``.
    var pendingConnections = 0
    /// Whether the gateway is stopping.
    var isDraining = false
    /// The open sockets.
    package internal(set) var socketCount = 0
    /// The latest refusals, for the operator.
    var refusals = RefusalRing()
    /// Makes the ids of traces that begin here.
    let traces = TraceSource()
    /// The protocol sessions of resources.
    package let protocolSessions = ProtocolSessionMemory()

    /// What the ids of the loop's requests begin with.
    let requestPrefix: String
    private var requestCounter: UInt64 = 0
    private var dateText = ""
    private var dateSecond: Int64 = -1

    /// - Parameters:
    ///   - metrics: where the loop counts its requests.
    ///   - accessLog: takes the lines of the access log; nil where it is off.
    ///   - tracer: takes the spans of recorded traces; nil where tracing is off.
    package init(
        loop: any EventLoop, leases: LeaseTable, flushes: FlushQueue, metrics: EdgeMetrics,
        accessLog: (any LineSink)? = nil, tracer: (any Tracer)? = nil, now: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        self.leases = leases
        self.flushes = flushes
        self.questions = StoreQuestions(loop: loop)
        self.now = now
        self.meters = LoopMeters(metrics)
        self.accessLog = accessLog.map { AccessLogBuffer(sink: $0) }
        self.spans = tracer.map { SpanBuffer(loop: loop, tracer: $0) }
        self.requestPrefix = "req_" + RequestID.padded(UInt64.random(in: .min ... .max), to: 13)
    }

    /// Replaces the snapshot. Requests that have begun keep the old one; sockets whose route is gone end. To be called
    /// on the loop. Checks of the new upstreams begin at once, on the loop that makes them.
    package func change(to next: EdgeSnapshot) {
        if let snapshot { next.gate.storeHealth = snapshot.gate.storeHealth }
        snapshot = next
        for pool in next.upstreams.all { pool.startChecks() }
        let isRouted = { (route: Route) in next.services.routes.contains(route) }
        for connection in Array(connections.values) { connection.endTunnel(unless: isRouted) }
    }

    /// The id of the next request. Ids of one loop never repeat within a process.
    func nextRequestID() -> RequestID {
        requestCounter &+= 1
        return RequestID(prefix: requestPrefix, count: requestCounter)
    }

    /// The current time as an IMF-fixdate (RFC 9110 section 5.6.7), written once a second.
    package func date() -> String {
        let second = now() / 1000
        if second != dateSecond {
            dateSecond = second
            var text = ByteBuffer()
            HTTPDate.write(second, to: &text)
            dateText = String(buffer: text)
        }
        return dateText
    }
}
