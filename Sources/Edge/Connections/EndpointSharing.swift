import GatewayAPI

/// Which web pages may use an endpoint of the API.
enum EndpointSharing {
    /// Those of `server.allowed_origins`, with credentials.
    case allowedOrigins
    /// All, without credentials: no cookie counts at these endpoints.
    case everyone
    /// Only the gateway's own, by sending a form.
    case ownForm

    /// - Parameter hasResources: whether there are agents to authorise. Some of them are web pages.
    /// - Parameter path: the canonical path of an endpoint.
    init(_ path: String, hasResources: Bool) {
        switch path {
        case "/oauth2/token", "/oauth2/revoke", "/oauth2/register", "/register":
            self = hasResources ? .everyone : .allowedOrigins
        case "/oauth2/authorize", "/authorize": self = .ownForm
        default: self = path.utf8.starts(with: "/.well-known/".utf8) ? .everyone : .allowedOrigins
        }
    }
}
