import Answers
import Exposition
import Metrics
import Synchronization

/// What the edge counts. Label values come from the configuration or from the gateway's own lists, never from clients.
///
/// Each counter is made once and kept, so that recording costs one call of its handler: for ``PrometheusMetrics`` one
/// atomic addition. What belongs to a route is counted by ``LoopMeters``. Safe from any thread. One value for the
/// process; a reload keeps it.
package final class EdgeMetrics: Sendable {
    /// Where the values can be read as text; nil for a backend that sends them elsewhere.
    package let exposition: (any MetricsExposition)?
    /// Requests that were admitted and given to a pool, whether or not an upstream could be reached.
    package let proxied: Counter
    /// Upgrades that were admitted, whether or not the upstream has accepted them.
    package let upgrades: Counter
    /// Connections that were accepted.
    package let connections: Counter
    /// Client connections that are open now. The gateway keeps this number itself, since `server.max_connections` needs
    /// it.
    package let openConnections = Atomic<Int>(0)
    /// Makes the metrics.
    package let factory: any MetricsFactory
    private let known: Mutex<Known>

    /// Metrics that are made when they first occur, and the last values of sums that are counted elsewhere.
    private struct Known {
        var counters: [String: Counter] = [:]
        var timers: [String: Timer] = [:]
        var gauges: [String: Gauge] = [:]
        var sums: [String: Int] = [:]
        var reasons: Set<String> = []
        /// The upstreams of the configuration as it is now.
        var upstreams: Set<String> = []
    }

    /// - Parameter factory: makes the metrics; one that is a ``MetricsExposition`` can be scraped.
    package init(_ factory: any MetricsFactory) {
        self.factory = factory
        exposition = factory as? any MetricsExposition
        // Made first, so that there is room for it.
        if exposition != nil { _ = Counter(label: Self.refusedMetrics, factory: factory) }
        proxied = Counter(label: "gatehouse_proxied_requests_total", factory: factory)
        upgrades = Counter(label: "gatehouse_upgrades_total", factory: factory)
        connections = Counter(label: "gatehouse_connections_total", factory: factory)
        known = Mutex(Known())
    }

    // MARK: Events

    /// Counts a refusal by its code and its reason. Takes a lock, as does everything here whose labels are not known
    /// beforehand.
    package func refused(_ problem: Problem) {
        counter(
            "gatehouse_refusals_total", [("code", problem.code.rawValue), ("reason", reason(problem.reason))]
        ).increment()
    }

    /// Counts an attempt to sign in.
    ///
    /// - Parameters:
    ///   - method: `password`, or the word of another way to sign in.
    ///   - result: `succeeded`, or the reason of the refusal.
    package func loggedIn(method: String, result: String) {
        counter("gatehouse_logins_total", [("method", method), ("result", reason(result))]).increment()
    }

    /// Records how long an operation of the store took.
    ///
    /// - Parameter operation: a word of the store's own list.
    package func stored(_ operation: String, nanoseconds: Int64) {
        let timer = known.withLock { known -> Timer in
            if let timer = known.timers[operation] { return timer }
            let timer = Timer(
                label: "gatehouse_store_duration_seconds", dimensions: [("operation", operation)], factory: factory)
            known.timers[operation] = timer
            return timer
        }
        timer.recordNanoseconds(nanoseconds)
    }

    /// Counts lines of a log that were dropped because it could not be written fast enough.
    ///
    /// - Parameter log: a name of the gateway's own, such as `traces`.
    package func dropped(lines count: Int, of log: String) {
        counter("gatehouse_log_lines_dropped_total", [("log", log)]).increment(by: count)
    }

    /// What records whether an upstream was reached.
    ///
    /// - Parameter place: `HOST:PORT`, or `unix:` and a path.
    /// - Parameter route: the configured path, or `api` for the external Runtime.
    package func upstream(_ place: String, of route: String) -> (_ isUp: Bool) -> Void {
        let gauge = gauge(Self.upstreamUp, Self.dimensions(place, route))
        return { gauge.record($0 ? 1 : 0) }
    }

    /// Counts that an upstream is left alone because it fails requests.
    package func ejected(_ place: String, of route: String) {
        counter("gatehouse_upstream_ejections_total", Self.dimensions(place, route)).increment()
    }

    /// Shows the upstreams of the configuration, as up until they are found not to be. Those that are no longer in the
    /// configuration have no value.
    package func expect(upstreams: [(route: String, place: String)]) {
        let wanted = Set(upstreams.map { Self.key(Self.upstreamUp, Self.dimensions($0.place, $0.route)) })
        let gone = known.withLock { known in
            known.gauges.filter { $0.key.hasPrefix(Self.upstreamUp) && !wanted.contains($0.key) }.map(\.value)
        }
        for gauge in gone { gauge.record(Double.nan) }
        let before = known.withLock { known in
            defer { known.upstreams = wanted }
            return known.upstreams
        }
        // One that was removed by a reload and is configured again counts as new, and so as up.
        for (route, place) in upstreams
        where !before.contains(Self.key(Self.upstreamUp, Self.dimensions(place, route))) {
            upstream(place, of: route)(true)
        }
    }

    private static let upstreamUp = "gatehouse_upstream_up"

    private static func dimensions(_ place: String, _ route: String) -> [(String, String)] {
        [("route", route), ("upstream", place)]
    }

    // MARK: Values that are looked up

    private static let refusedMetrics = "gatehouse_metrics_refused_total"

    /// Records how many metrics were made for whose series there was no room, and returns that number.
    package func recordRefusedMetrics() -> Int {
        guard let count = exposition?.refusedMetrics else { return 0 }
        move(Self.refusedMetrics, to: count)
        return count
    }

    /// Records values that are as they are now.
    ///
    /// - Parameter label: a gauge of ``families``.
    package func record(_ label: String, _ value: Double, _ dimensions: [(String, String)] = []) {
        gauge(label, dimensions).record(value)
    }

    /// Records a sum that is counted elsewhere and only grows: the counter is moved up to it. A sum that has become
    /// smaller is ignored until it has caught up.
    package func move(_ label: String, to sum: Int, _ dimensions: [(String, String)] = []) {
        let counter = counter(label, dimensions)
        let key = Self.key(label, dimensions)
        let more = known.withLock { known -> Int in
            let last = known.sums[key] ?? 0
            guard sum > last else { return 0 }
            known.sums[key] = sum
            return sum - last
        }
        if more > 0 { counter.increment(by: more) }
    }

    // MARK: Making metrics

    private static func key(_ label: String, _ dimensions: [(String, String)]) -> String {
        dimensions.reduce(label) { "\($0)\n\($1.0)=\($1.1)" }
    }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
        let key = Self.key(label, dimensions)
        return known.withLock { known -> Counter in
            if let counter = known.counters[key] { return counter }
            let counter = Counter(label: label, dimensions: dimensions, factory: factory)
            known.counters[key] = counter
            return counter
        }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> Gauge {
        let key = Self.key(label, dimensions)
        return known.withLock { known -> Gauge in
            if let gauge = known.gauges[key] { return gauge }
            let gauge = Gauge(label: label, dimensions: dimensions, factory: factory)
            known.gauges[key] = gauge
            return gauge
        }
    }

    /// The most reasons that are told apart. The code has far fewer.
    private static let mostReasons = 400

    /// A reason as a label. Reasons are words of the code; what else one might be is `other`, so that no input can make
    /// the number of series grow.
    package func reason(_ reason: String?) -> String {
        guard let reason, !reason.isEmpty else { return "none" }
        return known.withLock { known in
            if known.reasons.contains(reason) { return reason }
            guard known.reasons.count < Self.mostReasons, reason.utf8.count <= 80 else { return "other" }
            known.reasons.insert(reason)
            return reason
        }
    }
}
