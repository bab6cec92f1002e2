import AdminAPI
import EdgeConfiguration
import Encodings

/// What the configuration has to do with a refusal.
enum RefusalAdvice {
    /// The check that a refusal with this code failed, in the order in which the checks stand.
    static func check(code: String) -> String {
        switch code {
        case "bad_message", "header_too_large": "message"
        case "invalid_request", "unknown_member", "unsupported_media_type": "request"
        case "payload_too_large": "size"
        case "not_found", "method_not_allowed": "route"
        case "origin_refused": "origin"
        case "upgrade_required": "handshake"
        case "credentials_missing", "credentials_swapped", "session_token_unsupported": "credentials"
        case "invalid_token", "token_expired": "token"
        case "invalid_credentials", "invalid_grant", "login_state_invalid", "login_refused": "sign-in"
        case "session_mismatch", "session_ended", "session_expired", "session_conflict", "identity_mismatch": "session"
        case "insufficient_scope": "scope"
        case "not_allowed": "allow"
        case "rate_limited", "overloaded": "limits"
        case "store_unavailable": "store"
        case "upstream_unavailable", "upstream_timeout", "provider_unavailable": "upstream"
        default: "unknown"
        }
    }

    /// A refusal, as a log or the operator's API tells it.
    struct Refusal {
        var code: String
        var reason: String
        /// The path of the request.
        var path: String
    }

    /// The key of the configuration that decides about such refusals; one of a route without the route.
    private static func key(_ refusal: Refusal, _ route: RouteConfiguration?) -> String? {
        switch refusal.code {
        case "origin_refused": "server.allowed_origins"
        case "rate_limited":
            switch refusal.reason {
            case "route_limit": route.map { _ in "limit" }
            case "socket_cap": "limits.sockets_per_session"
            default:
                refusal.path == "/api/session/create-anonymous"
                    ? "limits.anonymous_per_minute" : "limits.login_per_minute"
            }
        case "insufficient_scope": route.map { _ in "scopes" }
        case "not_allowed" where refusal.reason.hasPrefix("client_certificate"),
            "invalid_request" where refusal.reason.hasPrefix("client_certificate"):
            route.map { _ in "client_certificate" }
        case "not_allowed" where refusal.reason == "sign_in_too_old": route.map { _ in "fresh" }
        case "not_allowed" where refusal.reason == "sign_in_too_weak": route.map { _ in "acr" }
        case "not_allowed": route.map { _ in "allow" }
        case "overloaded" where refusal.reason == "upstream_full":
            route.map { $0.maxRequests == nil ? "max_connections" : "max_requests" }
        case "credentials_missing", "session_mismatch": route.map { _ in "require" }
        case "payload_too_large": route?.maxBody == nil ? "server.max_body" : "max_body"
        case "header_too_large": "server.max_header"
        case "upstream_unavailable": route == nil ? "runtime.url" : "upstream"
        case "upstream_timeout": route == nil ? "runtime.url" : "timeout"
        case "store_unavailable": "state.url"
        case "invalid_request" where refusal.reason == "foreign_host": "server.hosts"
        // At a resource only tokens for its identifier pass, whatever tokens.audience says.
        case "invalid_token" where refusal.reason == "audience_mismatch":
            route?.resource == nil ? "tokens.audience" : "resource"
        case "invalid_token" where refusal.reason == "issuer_mismatch": "tokens.issuer"
        case "invalid_token" where refusal.reason == "key_unknown": "keys.directory"
        case "token_expired": "tokens.access_token_lifetime"
        default: nil
        }
    }

    /// The number of the route with this path and host for this method, by the configuration as it is now; nil for
    /// another word than a path, such as `api`.
    static func route(path: String, host: String?, method: String?, _ loaded: LoadedConfiguration) -> Int? {
        let routes = loaded.configuration.routes
        let found = routes.indices.filter { routes[$0].path.hasSameBytes(as: path) && routes[$0].host == host }
        return found.first { routes[$0].methods?.contains(method ?? "") ?? true } ?? found.first
    }

    /// Explains a refusal by the configuration as it is now.
    ///
    /// - Parameter route: the number of its route; nil for none.
    static func explain(_ refusal: Refusal, route: Int?, _ loaded: LoadedConfiguration) -> RefusalExplanation {
        var explanation = RefusalExplanation(check: check(code: refusal.code))
        guard let key = key(refusal, route.map { loaded.configuration.routes[$0] }) else { return explanation }
        let name = route.map { key.contains(".") ? key : "routes[\($0)].\(key)" } ?? key
        explanation.key = name
        let found = loaded.places.nearest(to: name).flatMap { ConfigurationPlace($0) }
        explanation.file = found?.file
        explanation.line = found?.line
        return explanation
    }
}
