import EdgeConfiguration
import EdgeCore

/// The limits of all routes, by the numbers of the routes.
struct RouteLimiters: Sendable {
    private struct Entry: Sendable {
        let route: RouteConfiguration
        let limiter: RouteLimiter
    }

    private let entries: [Int: Entry]

    /// - Parameter old: the limits before a reload. Those whose terms stay go on with what they have counted.
    init(_ routes: [RouteConfiguration], replacing old: RouteLimiters?) {
        var entries: [Int: Entry] = [:]
        for (index, route) in routes.enumerated() {
            guard let limit = route.limit else { continue }
            let kept = old?.entries.values.first { entry in
                entry.route.path == route.path && entry.route.host == route.host
                    && entry.route.methods == route.methods && entry.route.limit == limit
                    && entry.route.limitSubject == route.limitSubject
            }
            entries[index] = Entry(
                route: route, limiter: kept?.limiter ?? RouteLimiter(limit, by: route.limitSubject))
        }
        self.entries = entries
    }

    /// The limit of a route; nil where it has none.
    subscript(_ route: Route) -> RouteLimiter? { route.isLimited ? entries[route.index]?.limiter : nil }
}
