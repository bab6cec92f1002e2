/// An upstream as this node sees it.
package struct UpstreamEntry: Sendable, Equatable {
    /// The path of its route, or `api` for the external Runtime.
    package var route: String
    /// `HOST:PORT`, or the path of a Unix socket.
    package var upstream: String
    /// Whether the last attempt to connect to it succeeded, and its health checks pass.
    package var isUp: Bool
    /// Until when it is left out, in ms since the epoch.
    package var ejectedUntil: Int64?
    /// Requests that this node has sent and whose answers are not complete.
    package var requestsInFlight: Int
    /// Failures since the last answer that counts as good; see `outlier`.
    package var consecutiveFailures: Int

    package init(
        route: String, upstream: String, isUp: Bool, ejectedUntil: Int64?, requestsInFlight: Int,
        consecutiveFailures: Int
    ) {
        self.route = route
        self.upstream = upstream
        self.isUp = isUp
        self.ejectedUntil = ejectedUntil
        self.requestsInFlight = requestsInFlight
        self.consecutiveFailures = consecutiveFailures
    }
}
