extension RouteConfiguration {
    /// `health`: requests by which the gateway finds out itself whether an upstream serves.
    public struct Health: Sendable, Equatable {
        /// `health.path`: what is asked for, with GET.
        public var path = "/"
        /// `health.interval`: the time between two checks of an upstream, in milliseconds.
        public var interval: Int64 = 5_000
        /// `health.timeout`: how long an upstream may take to connect and answer, in milliseconds.
        public var timeout: Int64 = 2_000
        /// `health.healthy_after`: how many checks in a row must pass before an unhealthy upstream is used again.
        public var healthyAfter = 2
        /// `health.unhealthy_after`: how many checks in a row must fail before an upstream is no longer used.
        public var unhealthyAfter = 3
        /// `health.status`: the statuses that pass.
        public var status = [StatusRange(200...399)]

        /// The defaults.
        public init() {}
    }

    /// Statuses of HTTP from one to another, both included.
    public struct StatusRange: Sendable, Hashable {
        /// The statuses.
        public let codes: ClosedRange<Int>

        /// A range of statuses.
        public init(_ codes: ClosedRange<Int>) { self.codes = codes }
    }

    /// `outlier`: upstreams that fail requests in a row are not used for a while.
    public struct Outlier: Sendable, Equatable {
        /// `outlier.failures`: after how many failures in a row; answers of 5xx and connections that fail count.
        public var failures = 5
        /// `outlier.eject`: for how long at first, in milliseconds; each time in succession for as much longer.
        public var eject: Int64 = 10_000
        /// `outlier.max_eject`: for how long at most, in milliseconds.
        public var maxEject: Int64 = 300_000

        /// The defaults.
        public init() {}
    }

    /// `retry`: how many requests may be sent to a second upstream, or a second time.
    public struct Retry: Sendable, Equatable {
        /// `retry.budget`: the share of the requests that may be retries.
        public var budget = 0.2
        /// `retry.floor`: how many retries a second are allowed besides, on each event loop.
        public var floor = 3

        /// The defaults.
        public init() {}
    }

    /// `limit`: how many requests each caller may send.
    public struct Limit: Sendable, Equatable {
        /// What the requests are counted by.
        public enum Subject: String, Sendable, CaseIterable {
            /// The user; a caller without one counts by address.
            case user
            /// The session.
            case session
            /// The client that the token was issued to.
            case client
            /// The address of the client.
            case address
        }

        /// `limit.requests`: how many in a period.
        public var requests = 60
        /// `limit.per`: the period, in milliseconds.
        public var per: Int64 = 60_000
        /// `limit.burst`: how many at once; nil for as many as in a period.
        public var burst: Int?
        /// `limit.by`: what they are counted by; nil for the user, or the address on a route without callers.
        public var by: Subject?

        /// The defaults.
        public init() {}
    }

    /// Whether a client must show a certificate in the TLS handshake.
    public enum ClientCertificate: String, Sendable, CaseIterable {
        /// It need not.
        case none
        /// It must, and the certificate must be of `server.tls.client_ca`.
        case required
    }

    /// Whether the choice of an upstream goes by more than the number of its requests.
    package var isSupervised: Bool {
        health != nil || outlier != nil || retry != nil || maxRequests != nil || maxConnections != nil
    }

    /// What the requests of the route's limit are counted by.
    package var limitSubject: Limit.Subject { limit?.by ?? (require == .none ? .address : .user) }

    /// Whether a request admitted to the route always has what its limit counts by.
    package var knowsLimitSubject: Bool {
        switch limit?.by {
        case nil, .address: true
        case .user: require != .none
        case .session: require == .session || require == .tokenAndSession
        case .client: require == .token || require == .tokenAndSession
        }
    }
}
