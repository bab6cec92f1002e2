import AdminAPI
import EdgeConfiguration

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

    /// The keys of the configuration that decide about such refusals, the most likely one first; those of a route
    /// without the route.
    static func keys(code: String, reason: String, isRouted: Bool) -> [String] {
        switch code {
        case "origin_refused": ["server.allowed_origins"]
        case "rate_limited":
            switch reason {
            case "route_limit": isRouted ? ["limit"] : []
            case "socket_cap": ["limits.sockets_per_session", "limits.sockets_per_user"]
            default: ["limits.login_per_minute", "limits.anonymous_per_minute"]
            }
        case "insufficient_scope": isRouted ? ["scopes"] : []
        case "not_allowed" where reason.hasPrefix("client_certificate"),
            "invalid_request" where reason.hasPrefix("client_certificate"):
            isRouted ? ["client_certificate"] : []
        case "not_allowed": isRouted ? ["allow"] : []
        case "overloaded" where reason == "upstream_full": isRouted ? ["max_requests", "max_connections"] : []
        case "credentials_missing", "session_mismatch": isRouted ? ["require"] : []
        case "payload_too_large": isRouted ? ["max_body", "server.max_body"] : ["server.max_body"]
        case "header_too_large": ["server.max_header"]
        case "upstream_unavailable", "upstream_timeout": isRouted ? ["upstream", "timeout"] : ["runtime.url"]
        case "store_unavailable": ["state.url", "state.grace"]
        case "invalid_request" where reason == "foreign_host": ["server.hosts"]
        case "invalid_token":
            switch reason {
            case "audience_mismatch": ["tokens.audience"]
            case "issuer_mismatch": ["tokens.issuer"]
            case "key_unknown": ["keys.directory"]
            default: []
            }
        case "token_expired": ["tokens.access_token_lifetime"]
        default: []
        }
    }

    /// Explains a refusal by the configuration as it is now.
    ///
    /// - Parameter routePath: the path of the route; another word, such as `api`, stands for no route.
    static func explain(
        code: String, reason: String, routePath: String, _ loaded: LoadedConfiguration
    ) -> RefusalExplanation {
        let route = loaded.configuration.routes.firstIndex { $0.path.utf8.elementsEqual(routePath.utf8) }
        var explanation = RefusalExplanation(check: check(code: code))
        guard let key = keys(code: code, reason: reason, isRouted: route != nil).first else { return explanation }
        var place = loaded.places[key]
        explanation.key = key
        if let route, !key.contains(".") {
            explanation.key = "routes[\(route)].\(key)"
            place = loaded.places["routes[\(route)]"]
        }
        let found = place.flatMap(ConfigurationPlace.init)
        explanation.file = found?.file
        explanation.line = found?.line
        return explanation
    }
}
