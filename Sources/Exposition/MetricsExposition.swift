import Metrics

/// A metrics backend whose values can be read as text, for a listener that is scraped.
///
/// ``PrometheusMetrics`` is one. A gateway whose backend is none serves no `/metrics`.
public protocol MetricsExposition: MetricsFactory {
    /// The media type of ``text()``.
    var contentType: String { get }

    /// Every family with its samples as they are now.
    func text() -> String

    /// How many metrics were made that record nothing, because there is no room for their series.
    var refusedMetrics: Int { get }
}

extension MetricsExposition {
    /// None: there is always room.
    public var refusedMetrics: Int { 0 }
}
