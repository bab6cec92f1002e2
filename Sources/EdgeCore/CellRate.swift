/// A limit of requests by the generic cell rate algorithm: so many in a period, spread over it, and so many at once.
///
/// What is known of a caller is a bucket that fills again, as one number: the time at which it will be full. That and
/// the clock are handed in. Times are nanoseconds since the Unix epoch.
package struct CellRate: Sendable, Equatable {
    /// The decision on one request.
    package struct Verdict: Sendable, Equatable {
        /// Whether it may pass.
        package let isAllowed: Bool
        /// How many more may pass at once.
        package let remaining: Int64
        /// In how many seconds, rounded up, the bucket is full; for a refusal, in how many a request may pass.
        package let seconds: Int64
        /// When the bucket will be full, to be kept for the next request.
        package let fullAt: Int64
    }

    /// The time that one request takes from the bucket.
    private let interval: Int64
    /// The time that a full bucket holds.
    private let capacity: Int64
    private static let second: Int64 = 1_000_000_000

    /// - Parameters:
    ///   - requests: how many in a period, at least 1.
    ///   - period: milliseconds, at least 1.
    ///   - burst: how many at once, at least 1.
    package init(requests: Int, period: Int64, burst: Int) {
        let most = Int64.max / 8
        let (nanoseconds, isTooLong) = max(1, period).multipliedReportingOverflow(by: 1_000_000)
        interval = max(1, (isTooLong ? most : nanoseconds) / Int64(max(1, requests)))
        let (held, isTooMuch) = interval.multipliedReportingOverflow(by: Int64(max(1, burst)))
        capacity = isTooMuch ? most : min(held, most)
    }

    /// Takes one request from a bucket, if it has any.
    ///
    /// - Parameters:
    ///   - fullAt: when the bucket would be full; nil for one that is.
    ///   - now: at most a century from the epoch on, as clocks are.
    package func take(fullAt: Int64?, at now: Int64) -> Verdict {
        // A clock that was set back must not make a caller wait for longer than an empty bucket does.
        let full = min(max(fullAt ?? now, now), now + capacity)
        let next = full + interval
        guard next - now <= capacity else {
            let wait = next - now - capacity
            return Verdict(isAllowed: false, remaining: 0, seconds: Self.seconds(wait), fullAt: full)
        }
        return Verdict(
            isAllowed: true, remaining: (capacity - (next - now)) / interval, seconds: Self.seconds(next - now),
            fullAt: next)
    }

    private static func seconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds + second - 1) / second }
}
