import EdgeConfiguration

/// The keys of a route that say how its upstreams are watched, and how many requests its callers may send.
enum UpstreamSettings {
    private typealias Bounds = ConfigurationBounds

    /// Those of a section are shown only for a route that has it.
    static let all: [Setting<RouteConfiguration>] = {
        var all = plain
        all += health.map { key in key.shownOnlyIf { $0.health != nil } }
        all += outlier.map { key in key.shownOnlyIf { $0.outlier != nil } }
        all += retry.map { key in key.shownOnlyIf { $0.retry != nil } }
        all += limit.map { key in key.shownOnlyIf { $0.limit != nil } }
        return all
    }()

    private static let plain: [Setting<RouteConfiguration>] = [
        .one("slow_start", \.slowStart, .duration(Bounds.slowStart)),
        .one("panic", \.panic, .fraction(Bounds.share)),
        .maybe("max_requests", \.maxRequests, .integer(Bounds.concurrency), missing: "none"),
        .maybe("max_connections", \.maxConnections, .integer(Bounds.concurrency), missing: "none"),
    ]

    private static let health: [Setting<RouteConfiguration>] = [
        .one("health.path", \.draftedHealth.path, .requestTarget),
        .one("health.interval", \.draftedHealth.interval, .duration(Bounds.healthInterval)),
        .one("health.timeout", \.draftedHealth.timeout, .duration(Bounds.healthTimeout)),
        .one("health.healthy_after", \.draftedHealth.healthyAfter, .integer(Bounds.inARow)),
        .one("health.unhealthy_after", \.draftedHealth.unhealthyAfter, .integer(Bounds.inARow)),
        .list("health.status", \.draftedHealth.status, .statusRange, orOne: true),
    ]

    private static let outlier: [Setting<RouteConfiguration>] = [
        .one("outlier.failures", \.draftedOutlier.failures, .integer(Bounds.inARow)),
        .one("outlier.eject", \.draftedOutlier.eject, .duration(Bounds.eject)),
        .one("outlier.max_eject", \.draftedOutlier.maxEject, .duration(Bounds.eject)),
    ]

    private static let retry: [Setting<RouteConfiguration>] = [
        .one("retry.budget", \.draftedRetry.budget, .fraction(Bounds.share)),
        .one("retry.floor", \.draftedRetry.floor, .integer(Bounds.retryFloor)),
    ]

    private static let limit: [Setting<RouteConfiguration>] = [
        .one("limit.requests", \.draftedLimit.requests, .integer(Bounds.limitRequests)),
        .one("limit.per", \.draftedLimit.per, .duration(Bounds.limitPeriod)),
        .maybe("limit.burst", \.draftedLimit.burst, .integer(Bounds.limitRequests)),
        .maybe("limit.by", \.draftedLimit.by, .word),
    ]

    /// Makes what was given without a value, such as `outlier: {}`, with its defaults.
    static func addDefaults(to route: inout RouteConfiguration, in entry: FileValue) {
        if route.health == nil, entry.value(of: "health") != nil { route.health = .init() }
        if route.outlier == nil, entry.value(of: "outlier") != nil { route.outlier = .init() }
        if route.retry == nil, entry.value(of: "retry") != nil { route.retry = .init() }
    }

    /// Faults that involve several of these keys, or one that is missing.
    ///
    /// - Parameter entry: the route as it stands in the file.
    static func contradictions(in route: RouteConfiguration, as entry: FileValue) -> [RouteReader.Contradiction] {
        var found: [RouteReader.Contradiction] = []
        if route.isSupervised, route.upstreams.isEmpty {
            let watching = ["health", "outlier", "retry", "max_requests", "max_connections"]
            found.append(
                (
                    watching.first { entry.value(of: $0) != nil } ?? "upstream",
                    "'health', 'outlier', 'retry' and the like watch upstreams: add 'upstream'"
                ))
        }
        if let count = route.health?.status.count, !Bounds.healthStatuses.contains(count) {
            let most = Bounds.healthStatuses.upperBound
            found.append(("health.status", "expected those that pass, at most \(most): without one every check fails"))
        }
        if let outlier = route.outlier, outlier.maxEject < outlier.eject {
            found.append(
                ("outlier.max_eject", "'outlier.max_eject' is shorter than 'outlier.eject': make it longer"))
        }
        if entry.value(of: "limit") != nil, entry.value(of: "limit.requests") == nil {
            found.append(("limit.requests", "missing: how many requests a caller may send in a period"))
        }
        if !route.knowsLimitSubject {
            found.append(
                ("limit.by", "'limit.by' names what 'require' does not ask for: count by address, or require more"))
        }
        if route.forwardClientCertificate, route.clientCertificate == .none {
            found.append(
                (
                    "forward_client_certificate",
                    "'forward_client_certificate' has nothing to forward: add 'client_certificate: required'"
                ))
        }
        return found
    }
}

extension RouteConfiguration {
    // Setting any of its keys makes the whole.
    fileprivate var draftedHealth: Health {
        get { health ?? Health() }
        set { health = newValue }
    }
    fileprivate var draftedOutlier: Outlier {
        get { outlier ?? Outlier() }
        set { outlier = newValue }
    }
    fileprivate var draftedRetry: Retry {
        get { retry ?? Retry() }
        set { retry = newValue }
    }
    fileprivate var draftedLimit: Limit {
        get { limit ?? Limit() }
        set { limit = newValue }
    }
}

extension ValueFormat where Value == RouteConfiguration.StatusRange {
    /// A status such as `200`, or a range of them such as `200-299`.
    static var statusRange: Self {
        Self(
            expects: "a status such as 200, or a range such as 200-299",
            read: { text in
                let parts = text.split(separator: "-", omittingEmptySubsequences: false)
                let codes = parts.compactMap { part -> Int? in
                    guard part.utf8.count == 3, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
                    return Int(part).flatMap { (200...599).contains($0) ? $0 : nil }
                }
                guard codes.count == parts.count, let first = codes.first, let last = codes.last, codes.count <= 2,
                    first <= last
                else { return nil }
                return .init(first...last)
            },
            write: { range in
                let (first, last) = (range.codes.lowerBound, range.codes.upperBound)
                return first == last ? "\(first)" : "\(first)-\(last)"
            })
    }
}

extension ValueFormat where Value == String {
    /// A path with an optional query, as it stands in a request. The query may contain a secret.
    static var requestTarget: Self {
        Self(
            expects: "a path with a leading slash, such as /healthz",
            read: { text in
                let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
                return text.hasPrefix("/") && isPlain && text.utf8.count <= 1_024 ? text : nil
            }, write: { URLText.withoutValues($0) }, isSecret: true)
    }
}
