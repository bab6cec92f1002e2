import EdgeCore
import Metrics
import NIOCore

/// The counters of one event loop by route and status, each made once. Confined to its loop.
final class LoopMeters {
    /// The counters of one route.
    private final class Meter {
        let label: String
        let factory: any MetricsFactory
        let duration: Metrics.Timer
        lazy var upstream = Timer(
            label: "gatehouse_upstream_duration_seconds", dimensions: [("route", label)], factory: factory)
        private var answers: [Int: Counter] = [:]
        /// The counter that was used last: most answers of a route have the same status.
        private var last: (status: Int, counter: Counter)?

        init(label: String, factory: any MetricsFactory) {
            self.label = label
            self.factory = factory
            duration = Timer(
                label: "gatehouse_request_duration_seconds", dimensions: [("route", label)], factory: factory)
        }

        func answer(_ status: Int) -> Counter {
            if let last, last.status == status { return last.counter }
            let counter = answers[status] ?? makeCounter(status)
            last = (status, counter)
            return counter
        }

        private func makeCounter(_ status: Int) -> Counter {
            let made = Counter(
                label: "gatehouse_requests_total", dimensions: [("route", label), ("status", "\(status)")],
                factory: factory)
            answers[status] = made
            return made
        }
    }

    private let factory: any MetricsFactory
    private var meters: [String: Meter] = [:]
    /// The counters of the routes that were used last, by the number of the route, so that no request looks up a name.
    private var byRoute: [(route: Route, meter: Meter)?] = []

    init(_ metrics: EdgeMetrics) { factory = metrics.factory }

    /// What is counted of a request. A record is large, and passing it on copies it.
    struct Figures {
        /// What the request was for; the metrics' label `route` names it.
        var route: RequestRecord.Target
        /// Nil where the client was gone before there was an answer.
        var status: Int?
        /// Nil for a socket, whose life is not a duration of a request.
        var duration: TimeAmount?
        /// Nil where no upstream has answered.
        var upstreamTime: TimeAmount?
    }

    /// Counts the answer that opens a socket.
    func opened(_ route: RequestRecord.Target) { count(101, meter(of: route)) }

    /// Counts the answer to a request and records how long it took. A socket's answer was counted when it was opened.
    func ended(_ figures: Figures) {
        let meter = meter(of: figures.route)
        if let duration = figures.duration {
            if let status = figures.status { count(status, meter) }
            meter.duration.recordNanoseconds(duration.nanoseconds)
        }
        if let time = figures.upstreamTime { meter.upstream.recordNanoseconds(time.nanoseconds) }
    }

    private func count(_ status: Int, _ meter: Meter) {
        // An upstream may send any three digits; those that are no status count as the last of their class.
        meter.answer((100...599).contains(status) ? status : 599).increment()
    }

    private func meter(of target: RequestRecord.Target) -> Meter {
        guard case .route(let route) = target, route.index >= 0 else { return meter(named: target.label) }
        // After a reload, a route of the configuration before may have the same number.
        if route.index < byRoute.count, let known = byRoute[route.index], known.route === route { return known.meter }
        let meter = meter(named: target.label)
        while byRoute.count <= route.index { byRoute.append(nil) }
        byRoute[route.index] = (route, meter)
        return meter
    }

    private func meter(named label: String) -> Meter {
        if let known = meters[label] { return known }
        let made = Meter(label: label, factory: factory)
        meters[label] = made
        return made
    }
}
