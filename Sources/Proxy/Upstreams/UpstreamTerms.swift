import EdgeConfiguration

/// What a route says of its upstreams besides where they are.
package struct UpstreamTerms: Sendable, Equatable {
    /// How they are checked; nil for not at all.
    package var health: RouteConfiguration.Health?
    /// When one that fails requests is left alone; nil for never.
    package var outlier: RouteConfiguration.Outlier?
    /// For how long one that is used again gets fewer requests, in milliseconds.
    package var slowStart: Int64 = 0
    /// The share that must be available; where fewer are, all are used.
    package var panic = 0.0
    /// How many requests may be repeated; nil for no limit.
    package var retry: RouteConfiguration.Retry?
    /// The most requests in progress at one upstream; nil for no limit.
    package var maxRequests: Int?
    /// The most connections to one upstream; nil for no limit.
    package var maxConnections: Int?

    /// Upstreams that are not watched.
    package init() {}

    /// What the route says.
    package init(_ route: RouteConfiguration) {
        health = route.health
        outlier = route.outlier
        slowStart = route.slowStart
        panic = route.panic
        retry = route.retry
        maxRequests = route.maxRequests
        maxConnections = route.maxConnections
    }

    /// Whether a request has to look at anything but the loop's own numbers.
    package var isSupervised: Bool {
        health != nil || outlier != nil || maxRequests != nil || maxConnections != nil
    }
}
