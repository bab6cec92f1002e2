/// What this node of the gateway has in memory, for its operator.
package protocol NodeView: Sendable {
    /// Open sockets and streams in the order of their ids, beginning after one, at most `limit`.
    func connections(after id: String?, limit: Int) async -> [OpenConnection]
    /// Ends a socket or stream. Returns whether there was one with this id.
    func end(connection id: String) async -> Bool
    /// How many sockets each of these sessions has open here; sessions without one may be left out.
    func sockets(of sessionIDs: [String]) -> [String: Int]
    /// The recent refusals, newest first.
    func refusals() async -> [RefusalEntry]
    /// The upstreams of all routes.
    func upstreams() async -> [UpstreamEntry]
    /// How many sockets and leases are open.
    func counts() async -> (sockets: Int, leases: Int)
    /// Returns when what has been ended is closed.
    func settled() async
    /// The state of the store's feed.
    func store() -> StoreEntry
    /// Whether requests are taken: the gateway is not stopping, and its store answers.
    func isReady() -> Bool
}

/// An open socket or stream.
package struct OpenConnection: Sendable, Equatable {
    /// What it is.
    package enum Kind: String, Sendable, CaseIterable {
        /// A WebSocket that ends in the gateway.
        case socket
        /// A WebSocket that is relayed to an upstream.
        case relay
        /// An answer that goes on until its lease ends, such as an event stream.
        case stream
    }

    /// The id of the request that opened it.
    package var id: String
    /// What is open.
    package var kind: Kind
    /// The configured path, or `api`.
    package var route: String
    /// The first 12 characters of the session's id.
    package var session: String?
    /// The session's owner, or the token's subject.
    package var userID: String?
    /// That user's tenant.
    package var tenantID: String?
    /// The client that acts for the user, or for itself.
    package var clientID: String?
    /// The client's address.
    package var client: String?
    /// When its request came, in ms since the epoch.
    package var since: Int64
    /// When it ends if nothing extends it; nil where nothing ends it by time.
    package var endsAt: Int64?

    package init(id: String, kind: Kind, route: String, since: Int64) {
        self.id = id
        self.kind = kind
        self.route = route
        self.since = since
    }
}

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

/// The state of the store's feed.
package struct StoreEntry: Sendable, Equatable {
    /// `sqlite` or `postgres`.
    package var kind: String
    /// Whether it answers, and its feed beats.
    package var isReachable: Bool
    /// The time since the last beat, in seconds.
    package var feedAge: Double

    package init(kind: String, isReachable: Bool, feedAge: Double) {
        self.kind = kind
        self.isReachable = isReachable
        self.feedAge = feedAge
    }
}
