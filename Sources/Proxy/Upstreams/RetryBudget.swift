import EdgeConfiguration

/// How many requests may be repeated: a share of all requests, and so many a second besides. Without it, an upstream
/// that fails would get twice the requests just when it has too many.
///
/// Pure; times are milliseconds and handed in.
package struct RetryBudget: Sendable, Equatable {
    /// The most that is saved up from quiet times, in retries.
    private static let most = 100.0

    private let terms: RouteConfiguration.Retry
    private var saved: Double
    private var second: Int64 = .min
    private var usedInSecond = 0

    /// A budget from which nothing was saved up yet.
    package init(_ terms: RouteConfiguration.Retry) {
        self.terms = terms
        saved = 0
    }

    /// A request has come.
    package mutating func requested() { saved = min(Self.most, saved + terms.budget) }

    /// Whether a request may be repeated now. If so, that is counted. What is allowed each second is used first, then
    /// what was saved up.
    package mutating func take(at now: Int64) -> Bool {
        let current = now / 1_000
        if current != second {
            second = current
            usedInSecond = 0
        }
        if usedInSecond < terms.floor {
            usedInSecond += 1
            return true
        }
        guard saved >= 1 else { return false }
        saved -= 1
        return true
    }
}
