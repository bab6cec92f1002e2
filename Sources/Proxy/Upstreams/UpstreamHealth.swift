import EdgeConfiguration

/// What is known of one upstream, as a value: it is told of checks and of the outcomes of requests, and says whether
/// the upstream may be used.
///
/// Times are milliseconds of a clock that only goes forward; it is handed in.
package struct UpstreamHealth: Sendable, Equatable {
    /// What a choice between upstreams needs to know of one.
    package struct View: Sendable, Equatable {
        /// Whether its checks fail.
        package var isUnhealthy = false
        /// Until when it is left alone because it failed requests; 0 for never.
        package var ejectedUntil: Int64 = 0
        /// When it was found healthy again; 0 for never.
        package var recoveredAt: Int64 = 0

        /// The view of an upstream of which nothing is known: it may be used.
        package init() {}

        /// Whether it may be used.
        package func isAvailable(at now: Int64) -> Bool { !isUnhealthy && ejectedUntil <= now }

        /// The share of the usual requests that it is to get, in 0.1 to 1: after a pause it grows with time.
        package func weight(at now: Int64, slowStart: Int64) -> Double {
            let since = max(ejectedUntil, recoveredAt)
            guard slowStart > 0, since > 0, now < since + slowStart else { return 1 }
            return max(0.1, Double(now - since) / Double(slowStart))
        }
    }

    /// What a choice needs to know.
    package private(set) var view = View()
    /// How many requests have failed since the last success, or since `outlier` came or went.
    package private(set) var consecutiveFailures = 0
    /// How many times in succession it was left alone.
    package private(set) var ejections = 0
    /// How many checks in a row contradict the present state.
    private var doubts = 0
    /// Whether the terms that were applied last have `outlier`.
    private var hasOutlier = false

    /// An upstream of which nothing is known. It counts as healthy.
    package init() {}

    /// Whether a success would change anything.
    package var isPristine: Bool { consecutiveFailures == 0 && ejections == 0 }

    /// A request was answered, with anything but 5xx.
    ///
    /// - Parameter terms: the route's `outlier`; nil where nothing is ejected any more.
    package mutating func succeeded(_ terms: RouteConfiguration.Outlier?, at now: Int64) {
        consecutiveFailures = 0
        // Once it has served for as long as it was left alone, what it did before is forgotten.
        guard ejections > 0, now >= view.ejectedUntil + (terms.map { pause($0, after: ejections) } ?? 0) else { return }
        ejections = 0
    }

    /// A request failed: no connection, no sound answer in time, or 5xx.
    ///
    /// - Returns: whether the upstream is left alone from now on.
    package mutating func failed(_ terms: RouteConfiguration.Outlier?, at now: Int64) -> Bool {
        consecutiveFailures = min(consecutiveFailures + 1, 1_000_000)
        guard let terms, consecutiveFailures >= terms.failures, view.ejectedUntil <= now else { return false }
        ejections = min(ejections + 1, 1_000)
        view.ejectedUntil = now + pause(terms, after: ejections)
        return true
    }

    private func pause(_ terms: RouteConfiguration.Outlier, after ejections: Int) -> Int64 {
        let (pause, isTooLong) = terms.eject.multipliedReportingOverflow(by: Int64(ejections))
        return isTooLong ? terms.maxEject : min(pause, terms.maxEject)
    }

    /// A check has passed or failed.
    ///
    /// - Returns: whether the upstream has become healthy or unhealthy by it.
    package mutating func checked(_ passed: Bool, _ terms: RouteConfiguration.Health, at now: Int64) -> Bool {
        guard passed == view.isUnhealthy else {
            doubts = 0
            return false
        }
        doubts += 1
        guard doubts >= (passed ? terms.healthyAfter : terms.unhealthyAfter) else { return false }
        doubts = 0
        view.isUnhealthy = !passed
        if passed { view.recoveredAt = now }
        return true
    }

    /// Takes over new terms: without checks the upstream is no longer unhealthy, without `outlier` no longer ejected.
    /// Where `outlier` comes or goes, failures are counted anew: those of before are none of its.
    package mutating func apply(_ terms: UpstreamTerms) {
        if terms.health == nil {
            view.isUnhealthy = false
            doubts = 0
        }
        if (terms.outlier != nil) != hasOutlier {
            hasOutlier = terms.outlier != nil
            consecutiveFailures = 0
        }
        if terms.outlier == nil {
            view.ejectedUntil = 0
            ejections = 0
        }
    }
}
