import EdgeConfiguration
import Experience

/// Keys of one entry that can't stand together.
extension RouteReader {
    /// What an issuer's values say that does not fit together.
    ///
    /// - Parameter entry: the issuer as it stands in the file.
    static func contradictions(in issuer: IssuerConfiguration, as entry: FileValue) -> [Contradiction] {
        var found: [Contradiction] = []
        let isInFile = entry.value(of: "jwks_file") != nil
        if isInFile, entry.value(of: "jwks") == nil, issuer.jwks?.contains("://") == false {
            found.append(
                ("jwks_file", "expected a file with a URL: the path of a file that is a key set belongs in 'jwks'"))
        }
        if issuer.jwks == nil, !isInFile, !issuer.discovery {
            found.append(("jwks", "missing 'jwks', or 'discovery: true'"))
        }
        if issuer.jwks != nil, issuer.discovery {
            found.append(("discovery", "'jwks' and 'discovery' say where the keys are in two ways: keep one"))
        }
        if issuer.atGate, issuer.tenants.count != 1 {
            found.append(("at_gate", "'at_gate' needs exactly one tenant: no token says which of several is meant"))
        }
        return found
    }

    /// What a route's values say that does not fit together.
    static func contradictions(in route: RouteConfiguration) -> [Contradiction] {
        var found: [Contradiction] = []
        let provesToken = route.require == .token || route.require == .tokenAndSession
        if !route.scopes.isEmpty, !provesToken {
            found.append(("scopes", "'scopes' are read from a token: use 'require: token' or 'token+session'"))
        }
        found += contradictionsOfResource(in: route)
        found += contradictions(of: route.allow, require: route.require)
        if route.readsSignIn, route.require == .none {
            found.append(
                (
                    route.fresh == nil ? "acr" : "fresh",
                    "'fresh' and 'acr' need a caller: use 'require: token', 'session' or 'token+session'"
                ))
        }
        return found + contradictionsOfUpstreams(in: route)
    }

    /// What does not fit together in `upstream` and the keys about it.
    private static func contradictionsOfUpstreams(in route: RouteConfiguration) -> [Contradiction] {
        var found: [Contradiction] = []
        let isRemote = route.upstreams.map { $0.hasPrefix("https:") }
        if isRemote.contains(true), isRemote.contains(false) {
            found.append(("upstream", "'upstream' mixes https with plain connections: use one kind"))
        }
        let tls = route.upstreamTLS
        if tls != .init(), !route.reachesTLS {
            let given = [
                ("upstream_ca", tls.ca), ("upstream_name", tls.name), ("upstream_certificate", tls.certificate),
                ("upstream_key", tls.key),
            ].first { $0.1 != nil }
            found.append(
                (
                    given?.0 ?? "upstream",
                    "'upstream_ca' and its like are for https upstreams: remove them, or use https"
                ))
        }
        if !route.upstreams.isEmpty, GatewayPaths.keep(route.path) {
            found.append(
                ("path", "the gateway keeps this path for itself, so nothing would be forwarded: use another"))
        }
        if (tls.certificate == nil) != (tls.key == nil) {
            found.append(
                (
                    tls.key == nil ? "upstream_certificate" : "upstream_key",
                    "'upstream_certificate' and 'upstream_key' go together: add the other, or remove both"
                ))
        }
        return found
    }

    /// What a resource can't be at the same time.
    private static func contradictionsOfResource(in route: RouteConfiguration) -> [Contradiction] {
        guard let resource = route.resource else { return [] }
        var found: [Contradiction] = []
        if resource.name.isEmpty {
            found.append(("resource.name", "'resource' needs a 'name', which people are shown"))
        }
        if route.require != .token {
            found.append(("require", "'resource' takes tokens alone: use 'require: token'"))
        }
        if route.webSocket { found.append(("websocket", "'resource' takes no WebSockets: remove 'websocket'")) }
        if route.forwardAuthorization {
            found.append(
                ("forward_authorization", "a resource's token is never passed on: remove 'forward_authorization'"))
        }
        if route.cors == .upstream {
            found.append(("cors", "the gateway answers the preflights of a resource: remove 'cors: upstream'"))
        }
        for scope in route.scopes where !resource.scopes.contains(where: { $0 == scope }) {
            found.append(("scopes", "'scopes' needs '\(scope)', which 'resource.scopes' does not offer: add it there"))
        }
        return found
    }

    /// What `allow` reads that `require` does not provide.
    private static func contradictions(
        of allow: RouteConfiguration.Allow, require: RouteConfiguration.Requirement
    ) -> [Contradiction] {
        switch require {
        case .none where allow != .init():
            [("allow", "'allow' has to know the caller: use 'require: token', 'session' or 'token+session'")]
        case .session where allow.readsToken:
            [
                (
                    allow.scopesAny == nil ? "allow.clients" : "allow.scopes_any",
                    "'allow.scopes_any' and 'allow.clients' are read from a token: use 'require: token' or "
                        + "'token+session'"
                )
            ]
        case .none, .session, .token, .tokenAndSession: []
        }
    }
}
