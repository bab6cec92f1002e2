import Answers
import Exposition
import Metrics
import Synchronization

/// What the edge counts. The possible label values are fixed.
///
/// Each counter is made once and kept, so that recording costs one call of its handler: for ``PrometheusMetrics`` one
/// atomic addition.
package final class EdgeMetrics: Sendable {
    /// The metrics that the gateway records, as `/metrics` shows them.
    package static let families: [PrometheusMetrics.Family] = [
        .init("gatehouse_requests_total", .counter, help: "Requests whose head was read."),
        .init("gatehouse_proxied_requests_total", .counter, help: "Requests that were forwarded to an upstream."),
        .init("gatehouse_upgrades_total", .counter, help: "WebSockets that were opened."),
        .init("gatehouse_connections_total", .counter, help: "Client connections that were accepted."),
        .init(
            "gatehouse_open_connections", .gauge,
            help: "Client connections that are open; one of HTTP/2 counts once, however many streams it has."),
        .init(
            "gatehouse_leases", .gauge, help: "Sockets and streams that end with the token or session they rest on."),
        .init("gatehouse_refusals_total", .counter, help: "Refusals by the code of their problem."),
        .init("gatehouse_store_up", .gauge, help: "Whether the store answers and its change feed beats: 1 or 0."),
    ]

    /// Where the values can be read as text; nil for a backend that sends them elsewhere.
    package let exposition: (any MetricsExposition)?
    /// Requests whose head was read.
    package let requests: Counter
    package let proxied: Counter
    package let upgrades: Counter
    package let connections: Counter
    /// Client connections that are open now. The gateway keeps this number itself, since `server.max_connections` needs
    /// it.
    package let openConnections = Atomic<Int>(0)
    private let openConnectionsGauge: Gauge
    private let leases: Gauge
    private let storeUp: Gauge
    private let factory: any MetricsFactory
    /// The counters of refusals, each made when its code first occurs.
    private let refusals = Mutex<[ProblemCode: Counter]>([:])

    package init(_ factory: any MetricsFactory) {
        self.factory = factory
        exposition = factory as? any MetricsExposition
        requests = Counter(label: "gatehouse_requests_total", factory: factory)
        proxied = Counter(label: "gatehouse_proxied_requests_total", factory: factory)
        upgrades = Counter(label: "gatehouse_upgrades_total", factory: factory)
        connections = Counter(label: "gatehouse_connections_total", factory: factory)
        openConnectionsGauge = Gauge(label: "gatehouse_open_connections", factory: factory)
        leases = Gauge(label: "gatehouse_leases", factory: factory)
        storeUp = Gauge(label: "gatehouse_store_up", factory: factory)
    }

    /// Counts a refusal.
    package func refused(_ code: ProblemCode) {
        let counter = refusals.withLock { refusals -> Counter in
            if let counter = refusals[code] { return counter }
            let counter = Counter(
                label: "gatehouse_refusals_total", dimensions: [("code", code.rawValue)], factory: factory)
            refusals[code] = counter
            return counter
        }
        counter.increment()
    }

    /// Records the values that are looked up from time to time instead of counted.
    package func record(leases: Int, isStoreUp: Bool) {
        openConnectionsGauge.record(openConnections.load(ordering: .relaxed))
        self.leases.record(leases)
        storeUp.record(isStoreUp ? 1 : 0)
    }
}
