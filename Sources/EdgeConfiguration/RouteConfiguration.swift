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

    /// `resource`: the route is a protected resource for agents (RFC 9728), whose tokens pass nowhere else.
    public struct Resource: Sendable, Equatable {
        /// `resource.name`: its name for people.
        public var name = ""
        /// `resource.scopes`: the scopes that tokens for it can have.
        public var scopes: [String] = []
        /// `resource.documentation`: the URL of a page for developers; nil for none.
        public var documentation: String?
        /// `resource.offline`: whether a person may let an agent keep its access after signing out.
        public var offline = false
        /// `resource.authorization_servers`: the issuers of its tokens; empty for the gateway itself.
        public var authorizationServers: [String] = []

        /// A resource without a name yet.
        public init() {}
    }

    /// Whether the embedded Runtime answers as a server of the Model Context Protocol: see `runtime.mcp`.
    package var servesRuntime = false
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
    /// Who may use the route, besides what `require` and `scopes` ask for.
    public var allow = Allow()
    /// How long ago the caller may have signed in, in milliseconds; nil for any time.
    public var fresh: Int64?
    /// The authentication context classes (`acr`) of which the sign-in must have one; empty for any.
    public var acr: [String] = []
    /// What the upstream is told of the caller.
    public var identity = Identity.allCases
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
    /// How the gateway checks whether the upstreams serve; nil for no checks.
    public var health: Health?
    /// When an upstream that fails requests is left alone for a while; nil for never.
    public var outlier: Outlier?
    /// For how long an upstream that is used again gets fewer requests than the others, in milliseconds.
    public var slowStart: Int64 = 0
    /// The share of the upstreams that must serve; where fewer do, all are used.
    public var panic = 0.1
    /// How many requests may be repeated; nil for no limit.
    public var retry: Retry?
    /// The most requests in progress at one upstream, open sockets among them; nil for no limit.
    public var maxRequests: Int?
    /// The most connections to one upstream; nil for no limit.
    public var maxConnections: Int?
    /// How many requests each caller may send; nil for no limit.
    public var limit: Limit?
    /// Whether the client must show a certificate.
    public var clientCertificate = ClientCertificate.none
    /// Whether the upstream is told the client's certificate, in `Client-Cert` (RFC 9440).
    public var forwardClientCertificate = false
    /// The protected resource that the route is; nil if it is none. It needs ``Requirement/token``.
    public var resource: Resource?

    /// A route for a prefix, with everything else at its default.
    public init(path: String) {
        self.path = path
    }

    /// Whether any upstream is reached over TLS.
    public var reachesTLS: Bool { upstreams.contains { $0.lowercased().hasPrefix("https://") } }

    /// The `aud` of the assertion in forwarded requests.
    public var assertionAudience: String { audience ?? path }
}
