/// One entry of `routes`: what is forwarded where, and who may ask for it.
package struct RouteConfiguration: Sendable, Equatable {
    /// What a request must prove before it is forwarded.
    package enum Requirement: String, Sendable, CaseIterable {
        case none
        case token
        case session
        case tokenAndSession = "token+session"
    }

    /// Who answers CORS questions on this route.
    package enum CORS: String, Sendable, CaseIterable {
        case gateway
        case upstream
    }

    /// A field set on every request of this route to its upstream.
    package struct Header: Sendable, Equatable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What the TLS to https upstreams rests on. Chain and name are verified whatever stands here.
    package struct UpstreamTLS: Sendable, Hashable {
        /// `upstream_ca`: a PEM file of the roots to trust instead of the system's.
        package var ca: String?
        /// `upstream_name`: the name to ask for and to verify; nil for the host of the URL.
        package var name: String?
        /// `upstream_certificate`: a PEM chain by which the gateway says who it is, the leaf first.
        package var certificate: String?
        /// `upstream_key`: the PEM key to that.
        package var key: String?

        package init() {}
    }

    /// The prefix, from its leading slash; ends at a segment.
    package var path: String
    /// Only for this host; nil for any.
    package var host: String?
    /// Only for these methods, upper case; nil for any.
    package var methods: [String]?
    /// `http://…`, `https://…` or `unix:/…`; empty for a route that only the decision endpoint judges.
    package var upstreams: [String] = []
    package var upstreamTLS = UpstreamTLS()
    package var require = Requirement.tokenAndSession
    /// Every one of these must be in the token's scope.
    package var scopes: [String] = []
    /// `aud` of the assertion; nil stands for `path`.
    package var audience: String?
    /// Whether `path` is cut off before forwarding.
    package var stripPrefix = false
    /// Whether upgrades are forwarded, under the checks and the lease of the socket edge.
    package var webSocket = false
    /// Whether answers end with the token or session that asked for them.
    package var lease = false
    /// How long the upstream may take until its answer begins, and pause within it; milliseconds.
    package var timeout: Int64 = 60_000
    /// Bytes of a request body; nil leaves it to `server.max_body`.
    package var maxBody: Int?
    package var cors = CORS.gateway
    /// Where a refused navigation is sent.
    package var loginURL: String?
    /// Whether `%2F` in a path is forwarded verbatim instead of refused.
    package var encodedSlash = false
    /// Whether the caller's `Authorization` reaches the upstream.
    package var forwardAuthorization = false
    package var headers: [Header] = []

    package init(path: String) {
        self.path = path
    }

    /// Whether any upstream is reached over TLS.
    package var reachesTLS: Bool { upstreams.contains { $0.lowercased().hasPrefix("https://") } }

    /// `aud` of the assertion that goes with forwarded requests.
    package var assertionAudience: String { audience ?? path }
}
