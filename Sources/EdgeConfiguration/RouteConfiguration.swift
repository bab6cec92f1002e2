/// One entry of `routes`: what is forwarded where, and who may ask for it.
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

    /// A field set on every request of this route to its upstream.
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

    /// What the TLS to https upstreams rests on. Chain and name are verified whatever stands here.
    public struct UpstreamTLS: Sendable, Hashable {
        /// `upstream_ca`: a PEM file of the roots to trust instead of the system's.
        public var ca: String?
        /// `upstream_name`: the name to ask for and to verify; nil for the host of the URL.
        public var name: String?
        /// `upstream_certificate`: a PEM chain by which the gateway says who it is, the leaf first.
        public var certificate: String?
        /// `upstream_key`: the PEM key to that.
        public var key: String?

        /// The defaults.
        public init() {}
    }

    /// The prefix, from its leading slash; ends at a segment.
    public var path: String
    /// Only for this host; nil for any.
    public var host: String?
    /// Only for these methods, upper case; nil for any.
    public var methods: [String]?
    /// `http://…`, `https://…` or `unix:/…`; empty for a route that only the decision endpoint judges.
    public var upstreams: [String] = []
    /// What the TLS to https upstreams rests on.
    public var upstreamTLS = UpstreamTLS()
    /// What a request must prove.
    public var require = Requirement.tokenAndSession
    /// Every one of these must be in the token's scope.
    public var scopes: [String] = []
    /// `aud` of the assertion; nil stands for `path`.
    public var audience: String?
    /// Whether `path` is cut off before forwarding.
    public var stripPrefix = false
    /// Whether upgrades are forwarded, under the checks and the lease of the socket edge.
    public var webSocket = false
    /// Whether answers end with the token or session that asked for them.
    public var lease = false
    /// How long the upstream may take until its answer begins, and pause within it; milliseconds.
    public var timeout: Int64 = 60_000
    /// Bytes of a request body; nil leaves it to `server.max_body`.
    public var maxBody: Int?
    /// Who answers CORS questions.
    public var cors = CORS.gateway
    /// Where a refused navigation is sent.
    public var loginURL: String?
    /// Whether `%2F` in a path is forwarded verbatim instead of refused.
    public var encodedSlash = false
    /// Whether the caller's `Authorization` reaches the upstream.
    public var forwardAuthorization = false
    /// Fields set on every request to the upstream.
    public var headers: [Header] = []

    /// A route for a prefix, with everything else at its default.
    public init(path: String) {
        self.path = path
    }

    /// Whether any upstream is reached over TLS.
    public var reachesTLS: Bool { upstreams.contains { $0.lowercased().hasPrefix("https://") } }

    /// `aud` of the assertion that goes with forwarded requests.
    public var assertionAudience: String { audience ?? path }
}
