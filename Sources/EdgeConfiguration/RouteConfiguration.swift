/// One entry of `routes`: which requests are forwarded, where, and what they must prove.
public struct RouteConfiguration: Sendable, Equatable {
    /// What a request must prove before it is forwarded.
    public enum Requirement: String, Sendable, CaseIterable {
        case none
        case token
        case session
        case tokenAndSession = "token+session"
    }

    /// Who answers CORS questions on this route.
    public enum CORS: String, Sendable, CaseIterable {
        case gateway
        case upstream
    }

    /// A header field that is set on every request of this route to its upstream.
    public struct Header: Sendable, Equatable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: String

        /// A field of a name and a value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The TLS settings for https upstreams. Chain and name are always verified.
    public struct UpstreamTLS: Sendable, Hashable {
        /// `upstream_ca`: a PEM file of the roots to trust instead of the system's.
        public var ca: String?
        /// `upstream_name`: the name to ask for and to verify; nil for the host of the URL.
        public var name: String?
        /// `upstream_certificate`: the gateway's client certificate, a PEM chain with the leaf first.
        public var certificate: String?
        /// `upstream_key`: the PEM key of that certificate.
        public var key: String?

        /// The defaults.
        public init() {}
    }

    /// The path prefix, with its leading slash. It matches whole segments.
    public var path: String
    /// The host that the route is for; nil for any.
    public var host: String?
    /// The methods that the route is for, in upper case; nil for any.
    public var methods: [String]?
    /// The upstreams: `http://…`, `https://…` or `unix:/…`; empty for a route that only the decision endpoint uses.
    public var upstreams: [String] = []
    /// The TLS settings for https upstreams.
    public var upstreamTLS = UpstreamTLS()
    /// What a request must prove.
    public var require = Requirement.tokenAndSession
    /// The scopes that the token must have, all of them.
    public var scopes: [String] = []
    /// The `aud` of the assertion; nil for `path`.
    public var audience: String?
    /// Whether `path` is removed before forwarding.
    public var stripPrefix = false
    /// Whether WebSocket upgrades are forwarded, with all checks for sockets and under a lease.
    public var webSocket = false
    /// Whether an answer is ended when the token or session of its request ends.
    public var lease = false
    /// How long the upstream may take until its answer begins, and pause within it, in milliseconds.
    public var timeout: Int64 = 60_000
    /// The most bytes of a request body; nil for the limit of `server.max_body`.
    public var maxBody: Int?
    /// Who answers CORS questions.
    public var cors = CORS.gateway
    /// Where a refused page view is redirected.
    public var loginURL: String?
    /// Whether `%2F` in a path is forwarded unchanged instead of refused.
    public var encodedSlash = false
    /// Whether the caller's `Authorization` is forwarded to the upstream.
    public var forwardAuthorization = false
    /// Header fields that are set on every request to the upstream.
    public var headers: [Header] = []

    /// A route for a prefix, with everything else at its default.
    public init(path: String) {
        self.path = path
    }

    /// Whether any upstream is reached over TLS.
    public var reachesTLS: Bool { upstreams.contains { $0.lowercased().hasPrefix("https://") } }

    /// The `aud` of the assertion in forwarded requests.
    public var assertionAudience: String { audience ?? path }
}
