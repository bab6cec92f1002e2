import Metrics
import Synchronization

/// A backend of swift-metrics that keeps its values in this process and writes them in the text format of Prometheus,
/// version 0.0.4: for each family HELP, TYPE, then the samples.
///
/// Making a metric takes a lock; recording a counter is one atomic addition without lock or allocation, so make a
/// `Counter` once and keep it. Metrics of the same label and dimensions share their value. Timers and aggregating
/// recorders become histograms, of seconds and of the values recorded.
///
/// The number of series is bounded: what is made beyond ``seriesLimit`` records nothing, and is counted by
/// ``refusedMetrics``. A metric of a family that has another kind records nothing either. A series is never removed: one
/// of a route that is gone keeps its last value until the process ends.
public final class PrometheusMetrics: MetricsExposition {
    /// A family that is shown from the beginning, with a sentence about it, in the order given.
    public struct Family: Sendable, Hashable {
        /// The types of the text format that occur here.
        public enum Kind: String, Sendable, Hashable {
            /// A number that only grows.
            case counter
            /// A number that is as it is now.
            case gauge
            /// Counts of values by size.
            case histogram
        }

        /// The label of its metrics.
        public let name: String
        /// What its metrics are.
        public let kind: Kind
        /// One line for the reader.
        public let help: String

        /// A family of a name, a kind and a line about it.
        public init(_ name: String, _ kind: Kind, help: String) {
            self.name = name
            self.kind = kind
            self.help = help
        }
    }

    private struct Group {
        var family: Family
        /// By the text of the dimensions.
        var series: [String: any Series] = [:]
    }

    private struct State {
        var groups: [String: Group] = [:]
        var order: [String] = []
        var seriesCount = 0
        var refusedCount = 0
    }

    /// How many series are kept unless told otherwise.
    public static let defaultSeriesLimit = 10_000

    /// How many series are kept at most.
    public let seriesLimit: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - families: shown first, even while they have no sample.
    ///   - seriesLimit: how many series are kept at most.
    public init(families: [Family] = [], seriesLimit: Int = PrometheusMetrics.defaultSeriesLimit) {
        self.seriesLimit = seriesLimit
        var state = State()
        for family in families where state.groups[family.name] == nil {
            state.groups[family.name] = Group(family: family)
            state.order.append(family.name)
        }
        self.state = Mutex(state)
    }

    // MARK: Reading

    /// `text/plain` of version 0.0.4.
    public var contentType: String { "text/plain; version=0.0.4; charset=utf-8" }

    /// Every family with its samples as they are now, ordered by their dimensions.
    public func text() -> String {
        let groups = state.withLock { state in state.order.compactMap { state.groups[$0] } }
        var text = ""
        for group in groups {
            let name = group.family.name
            text +=
                "# HELP \(name) \(TextFormat.help(group.family.help))\n# TYPE \(name) \(group.family.kind.rawValue)\n"
            for (labels, series) in group.series.sorted(by: { $0.key < $1.key }) {
                series.write(name, labels, to: &text)
            }
        }
        return text
    }

    /// How many metrics were made beyond ``seriesLimit``, each time that one was.
    public var refusedMetrics: Int { state.withLock { $0.refusedCount } }

    // MARK: Making metrics

    /// A counter of whole numbers.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { CounterSeries() } ?? NOOPMetricsHandler.instance
    }

    /// A counter of fractions.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter) { SumSeries() } ?? NOOPMetricsHandler.instance
    }

    /// A gauge that can go up and down.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { GaugeSeries() } ?? NOOPMetricsHandler.instance
    }

    /// A gauge, or where it aggregates a histogram of what was recorded.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate {
            return series(label, dimensions, .histogram) { HistogramSeries() } ?? NOOPMetricsHandler.instance
        }
        return series(label, dimensions, .gauge) { GaugeSeries() } ?? NOOPMetricsHandler.instance
    }

    /// A histogram of seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram) { HistogramSeries() } ?? NOOPMetricsHandler.instance
    }

    // A series stays when its metric is destroyed, for another one of the same label and dimensions: a counter that
    // began anew would look like a restart of the process.
    /// Does nothing: the series stays.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing: the series stays.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Does nothing: the series stays.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing: the series stays.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing: the series stays.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// The series of a label and its dimensions, made where there is none; nil where none can be.
    private func series<Made: Series>(
        _ label: String, _ dimensions: [(String, String)], _ kind: Family.Kind, _ make: () -> Made
    ) -> Made? {
        let name = TextFormat.name(label)
        let labels = TextFormat.labels(dimensions)
        return state.withLock { state -> Made? in
            if let known = state.groups[name] {
                guard known.family.kind == kind else { return nil }
                if let series = known.series[labels] { return series as? Made }
            }
            guard state.seriesCount < seriesLimit else {
                state.refusedCount += 1
                return nil
            }
            let made = make()
            if state.groups[name] == nil {
                state.groups[name] = Group(family: Family(name, kind, help: label))
                state.order.append(name)
            }
            state.groups[name]?.series[labels] = made
            state.seriesCount += 1
            return made
        }
    }
}
