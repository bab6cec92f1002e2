import Answers
import Caching
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore
import Runtime
import SecurityGuard
import Synchronization

/// The limit of requests of one route, for each of its callers. All event loops share it, so it is exact.
///
/// Callers are spread over many small tables with a lock each: two loops meet at one only for callers of the same
/// table, and then for less than a microsecond. The tables are bounded; a caller that is forgotten begins with a full
/// bucket.
package final class RouteLimiter: Sendable {
    private final class Table: Sendable {
        init() {}

        let buckets = Mutex(BoundedCache<Int, Int64>(capacity: RouteLimiter.places / RouteLimiter.tableCount))
    }

    /// How many callers are remembered.
    package static let places = 131_072
    private static let tableCount = 64

    /// The terms of the limit.
    let limit: RouteConfiguration.Limit
    private let subject: RouteConfiguration.Limit.Subject
    private let rate: CellRate
    private let tables = (0..<RouteLimiter.tableCount).map { _ in Table() }
    /// The value of `RateLimit-Policy`.
    private let policy: String

    /// - Parameters:
    ///   - limit: the terms.
    ///   - subject: what the requests are counted by.
    ///   - limit: `limit` of the route; without a burst, as many at once as in a period.
    package init(_ limit: RouteConfiguration.Limit, by subject: RouteConfiguration.Limit.Subject) {
        self.limit = limit
        self.subject = subject
        rate = CellRate(requests: limit.requests, period: limit.per, burst: limit.burst ?? limit.requests)
        let window = max(1, (limit.per + 999) / 1_000)
        policy = "\"gatehouse\";q=\(limit.requests);w=\(window)"
    }

    /// Counts a request that was admitted. The fields are those of the IETF's draft on RateLimit fields. A refusal also
    /// has `Retry-After`, in seconds and at least 1.
    ///
    /// - Parameters:
    ///   - address: the client's.
    ///   - now: in ms since the Unix epoch.
    ///   - fields: gets the RateLimit fields for the answer, whether it is a refusal or not.
    /// - Throws: `rate_limited`.
    package func count(
        _ admission: Admission, address: String, at now: Int64, fields: inout AnswerFields
    ) throws(Problem) {
        let verdict = take(caller(admission, address), at: now)
        fields.add("RateLimit-Policy", policy)
        fields.add("RateLimit", "\"gatehouse\";r=\(verdict.remaining);t=\(verdict.seconds)")
        guard verdict.isAllowed else {
            throw Problem(
                .rateLimited, reason: "route_limit", headers: [("Retry-After", String(max(1, verdict.seconds)))])
        }
    }

    /// Counts a request of this caller.
    ///
    /// - Parameter now: in ms since the Unix epoch.
    func take(_ caller: Int, at now: Int64) -> CellRate.Verdict {
        let (time, isTooFar) = now.multipliedReportingOverflow(by: 1_000_000)
        let nanoseconds = isTooFar ? Int64.max / 2 : time
        let table = tables[Int(UInt(bitPattern: caller) % UInt(Self.tableCount))]
        return table.buckets.withLock { buckets in
            let verdict = rate.take(fullAt: buckets.value(for: caller, at: nanoseconds), at: nanoseconds)
            buckets.insert(verdict.fullAt, for: caller, until: verdict.fullAt)
            return verdict
        }
    }

    /// A number for the caller. It is made with the process's random hash seed, so a caller cannot choose a name that
    /// collides with another's.
    private func caller(_ admission: Admission, _ address: String) -> Int {
        var hasher = Hasher()
        if let name = name(of: admission) {
            hasher.combine(1)
            hasher.combine(name)
        } else {
            hasher.combine(2)
            hasher.combine(ClientBucket.name(address))
        }
        return hasher.finalize()
    }

    /// What the caller is counted by; nil for the address.
    private func name(of admission: Admission) -> String? {
        switch subject {
        case .user: admission.principal?.subject ?? admission.permit?.userID
        case .session: admission.permit?.sessionID
        case .client: admission.principal?.qualifiedClientID
        case .address: nil
        }
    }
}

extension EdgeConnection {
    /// Counts an admitted request towards its route's limit, and has the answer say how much is left. Called after the
    /// gate, so that no one can use up the limit of another caller. Does nothing on a route without a limit.
    ///
    /// - Throws: `rate_limited`.
    func countTowardsLimit(
        of route: Route, _ admission: Admission, _ request: EdgeRequest, _ services: EdgeServices
    ) throws(Problem) {
        guard let limiter = services.limiters[route] else { return }
        var fields = answerFields ?? AnswerFields(answerForm)
        defer { answerFields = fields }
        try limiter.count(admission, address: request.clientAddress, at: request.receivedAt, fields: &fields)
    }
}
