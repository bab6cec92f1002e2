import AuthorizationServer
import EdgeConfiguration
import Experience
import Foundation

/// Checks that involve several keys, and warnings.
enum ConfigurationChecks {
    static func check(
        _ draft: inout ConfigurationDraft, place: String, faults: inout [ConfigurationFault],
        warnings: inout [ConfigurationFault]
    ) {
        draft.joinTLS()
        faults += CertificateSettings.faults(of: draft, place: place)
        switch (draft.certificate, draft.certificateKey) {
        case (nil, nil), (_?, _?): break
        case (nil, _?), (_?, nil):
            faults.append(
                .init(
                    place: draft.places["server.tls.certificate"] ?? draft.places["server.tls.key"] ?? place,
                    key: "server.tls",
                    message: "TLS needs both 'certificate' and 'key': add the other, or remove both"))
        }
        let configuration = draft.configuration
        let listen = configuration.server.listen
        if listen.port != 0 || listen.path != nil, configuration.server.admin == listen {
            faults.append(
                .init(
                    place: draft.places["server.admin"] ?? draft.places["server.listen"] ?? place,
                    key: "server.admin",
                    message: "must not be the public listener: use another port or path"))
        }
        if let audit = configuration.audit.file, let access = configuration.log.access,
            URL(fileURLWithPath: audit).standardizedFileURL == URL(fileURLWithPath: access).standardizedFileURL
        {
            faults.append(
                .init(
                    place: draft.places["log.access"] ?? place, key: "log.access",
                    message: "must not be the file of audit.file, whose chain it would break: use another"))
        }
        if configuration.server.proxyProtocol, configuration.server.trustedProxies.isEmpty {
            faults.append(
                .init(
                    place: draft.places["server.proxy_protocol"] ?? place, key: "server.proxy_protocol",
                    message: "needs server.trusted_proxies: without it every connection is reset; list the balancers"))
        }
        if configuration.hasResources || configuration.runtime.mcp, let issuer = configuration.tokens.issuer,
            !ResourceIdentifier.isOrigin(issuer)
        {
            faults.append(
                .init(
                    place: draft.places["tokens.issuer"] ?? place, key: "tokens.issuer",
                    message: "a route has 'resource', so this must be an origin: https://host, in lower case, without "
                        + "a default port, path or slash"))
        }
        if configuration.runtime.mcp, configuration.runtime.url != nil || configuration.hasRouteAtTools {
            faults.append(
                .init(
                    place: draft.places["runtime.mcp"] ?? place, key: "runtime.mcp",
                    message: "offers the embedded Runtime at /mcp: remove 'runtime.url', and your route at /mcp"))
        }
        if configuration.withRuntimeTools().hasResources {
            for key in routesAtRootPaths(of: configuration) {
                faults.append(
                    .init(
                        place: draft.places.nearest(to: key) ?? place, key: key,
                        message: "the gateway keeps this path for itself where there is a 'resource' or 'runtime.mcp', "
                            + "so nothing would be forwarded: use another"))
            }
        }
        for (index, route) in configuration.routes.enumerated() {
            let key = "routes[\(index)].resource.authorization_servers"
            for server in route.resource?.authorizationServers ?? [] where !configuration.isAuthorizationServer(server)
            {
                faults.append(
                    .init(
                        place: draft.places.nearest(to: key) ?? place, key: key,
                        message: "'\(server)' is neither 'tokens.issuer' nor one of 'issuers' with exactly one tenant"))
            }
        }
        if let issuer = configuration.tokens.issuer {
            let resources = configuration.protectedResources(issuer: issuer).map(\.identifier)
            for name in resources where configuration.tokens.audience.contains(name) {
                faults.append(
                    .init(
                        place: draft.places["tokens.audience"] ?? place, key: "tokens.audience",
                        message: "'\(name)' is the identifier of a resource, whose tokens must pass nowhere else"))
            }
        }
        if let domain = configuration.passkeys.rpID, let issuer = configuration.tokens.issuer,
            !PasskeysConfiguration.mayUse(domain, issuer: issuer)
        {
            faults.append(
                .init(
                    place: draft.places["passkeys.rp_id"] ?? place, key: "passkeys.rp_id",
                    message: "expected the host of tokens.issuer or a domain above it, of at least two labels"))
        }
        for (index, issuer) in configuration.issuers.enumerated()
        where issuer.atGate && issuer.issuer == configuration.tokens.issuer {
            faults.append(
                .init(
                    place: draft.places.nearest(to: "issuers[\(index)].at_gate") ?? place,
                    key: "issuers[\(index)].at_gate",
                    message: "is the gateway itself, whose own tokens are accepted anyhow: remove it"))
        }
        if configuration.tokens.audience.isEmpty {
            faults.append(
                .init(
                    place: draft.places["tokens.audience"] ?? place, key: "tokens.audience",
                    message: "expected at least one name"))
        }
        warnings += remarks(on: configuration, place: place)
    }

    /// The keys of the paths at which the authorization server of agents answers, and not the route.
    private static func routesAtRootPaths(of configuration: GatewayConfiguration) -> [String] {
        configuration.routes.enumerated()
            .filter { !$0.element.upstreams.isEmpty && GatewayPaths.keepWithResource($0.element.path) }
            .map { "routes[\($0.offset)].path" }
    }

    private static func remarks(on configuration: GatewayConfiguration, place: String) -> [ConfigurationFault] {
        var remarks: [ConfigurationFault] = []
        func remark(_ key: String, _ message: String) {
            remarks.append(.init(place: place, key: key, message: message))
        }
        if let issuer = configuration.tokens.issuer, issuer.hasPrefix("http:") {
            remark("tokens.issuer", "not https: good for development only")
        }
        if configuration.tokens.issuer == nil, configuration.server.listen.path != nil {
            remark("tokens.issuer", "a Unix socket has no URL, so http://localhost stands for it: name the public one")
        }
        for (index, issuer) in configuration.issuers.enumerated() {
            if issuer.issuer.hasPrefix("http:") || issuer.jwks?.hasPrefix("http:") == true {
                remark("issuers[\(index)]", "not https: everyone on the way can sign for this issuer")
            }
            if issuer.tenants.isEmpty {
                remark("issuers[\(index)].tenants", "lists no tenant, so none of its tokens are exchanged")
            }
        }
        for (index, receiver) in configuration.events.enumerated() {
            guard let url = URLText(receiver.url), url.scheme == "http", !receiver.allowPrivate else { continue }
            remark("events[\(index)].url", "not https: everybody on the way can read the events")
        }
        if !configuration.limits.enabled {
            remark("limits.enabled", "false: nothing slows down guessed passwords")
        }
        return remarks
    }
}
