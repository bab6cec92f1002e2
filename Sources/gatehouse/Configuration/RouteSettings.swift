import EdgeConfiguration
import Experience

/// The keys of one entry of `routes`.
enum RouteSettings {
    /// In the order in which a route is shown.
    static let all: [Setting<RouteConfiguration>] =
        [
            .one("path", \.path, .routePath),
            .maybe("host", \.host, .hostName),
            .maybeList("methods", \.methods, .method),
            .oneOrMore("upstream", \.upstreams, .endpoint(schemes: ["http", "https"])),
            .maybe("upstream_ca", \.upstreamTLS.ca, .text("the path of a PEM file")),
            .maybe("upstream_name", \.upstreamTLS.name, .serverName),
            .maybe("upstream_certificate", \.upstreamTLS.certificate, .text("the path of a PEM file")),
            .maybe("upstream_key", \.upstreamTLS.key, .text("the path of a PEM file")),
            .one("require", \.require, .word),
            .list("scopes", \.scopes, .scope, isOpenWhenEmpty: true),
            .maybeList("allow.scopes_any", \.allow.scopesAny, .scope),
            .maybeList("allow.groups", \.allow.groups, .group),
            .maybeList("allow.users", \.allow.users, .userID),
            .maybeList("allow.email_domains", \.allow.emailDomains, .emailDomain),
            .maybeList("allow.clients", \.allow.clients, .clientID),
            .maybeList("allow.tenants", \.allow.tenants, .tenant),
            .maybe("fresh", \.fresh, .duration(ConfigurationBounds.freshness)),
            .oneOrMore("acr", \.acr, .scope, orOne: false, leftOut: "any"),
            .list("identity", \.identity, .word),
            .maybe("audience", \.audience, .text("a name")),
            .one("strip_prefix", \.stripPrefix, .flag),
            .one("websocket", \.webSocket, .flag),
            .one("lease", \.lease, .flag),
            .one("timeout", \.timeout, .duration(ConfigurationBounds.routeTimeout)),
            .maybe("max_body", \.maxBody, .size(ConfigurationBounds.maxBody), missing: "none"),
            .one("cors", \.cors, .word),
            .maybe("login_url", \.loginURL, .loginURL),
            .one("encoded_slash", \.encodedSlash, .flag),
            .one("forward_authorization", \.forwardAuthorization, .flag),
            headers,
            .one("client_certificate", \.clientCertificate, .word),
            .one("forward_client_certificate", \.forwardClientCertificate, .flag),
        ] + UpstreamSettings.all + resource

    /// The keys below `resource`, which are shown only where there is one.
    private static let resource = resourceKeys.map { setting in setting.shownOnlyIf { $0.resource != nil } }

    /// Any of them makes the route a resource.
    private static let resourceKeys: [Setting<RouteConfiguration>] = [
        .one("resource.name", \.draftedResource.name, .text("a name")),
        .list("resource.scopes", \.draftedResource.scopes, .scope),
        .maybe("resource.documentation", \.draftedResource.documentation, .text("a URL")),
        .one("resource.offline", \.draftedResource.offline, .flag),
        .oneOrMore(
            "resource.authorization_servers", \.draftedResource.authorizationServers, .issuer,
            leftOut: "the gateway itself"),
    ]

    /// Header names that frame the message or apply to a connection, which a route may not set.
    private static let ownNames = [
        "client-cert", "client-cert-chain", "connection", "content-length", "host", "keep-alive", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// `headers`: fields that are added to the route's requests. Their values may be secrets.
    private static let headers = Setting<RouteConfiguration>(
        key: "headers", shape: .pairs,
        set: { route, entries throws(Complaint) in
            var headers: [RouteConfiguration.Header] = []
            for (index, entry) in entries.enumerated() {
                let name = entry.name ?? ""
                if let message = fault(name: name, value: entry.text) { throw Complaint(message, index: index) }
                headers.append(.init(name: name, value: entry.text))
            }
            route.headers = headers
        },
        show: { route in
            // The values are often credentials for the upstream.
            route.headers.isEmpty ? nil : .pairs(route.headers.map { .init(name: $0.name, text: "redacted") })
        }, isSecret: true)

    /// What is wrong with a field that a route adds to its requests; nil if nothing is.
    private static func fault(name: String, value: String) -> String? {
        guard HTTPToken.matches(name), name.utf8.allSatisfy({ $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: ".") })
        else { return "expected a field name such as X-Api-Key" }
        let lowered = name.lowercased()
        guard !ownNames.contains(lowered), !lowered.hasPrefix("x-gatehouse-"), !lowered.hasPrefix("x-forwarded-")
        else { return "'\(name)' is written by the gateway itself" }
        let isPlain = value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        return isPlain ? nil : "expected a value of visible ASCII for '\(FoundText.name(name))'"
    }
}

/// The keys of one entry of `events`.
enum EventSettings {
    /// In the order in which a receiver is shown.
    static let all: [Setting<EventReceiverConfiguration>] = [
        .one("url", \.url, .receiver),
        .oneOrMore("events", \.events, .word, leftOut: nil),
        .one("allow_private", \.allowPrivate, .flag),
    ]
}

/// The keys of one entry of `issuers`.
enum IssuerSettings {
    /// In the order in which an issuer is shown.
    static let all: [Setting<IssuerConfiguration>] = [
        .one("issuer", \.issuer, .issuer),
        .maybe("jwks", \.jwks, .keySource),
        .one("discovery", \.discovery, .flag),
        .one("allow_private", \.allowPrivate, .flag),
        .one("at_gate", \.atGate, .flag),
        .oneOrMore("audience", \.audience, .text("a name"), leftOut: nil),
        .list("tenants", \.tenants, .tenant),
        .oneOrMore("algorithms", \.algorithms, AlgorithmNames.verifying, orOne: false, leftOut: "what each key says"),
        .list("scopes", \.scopes, .scope),
    ]
}

extension RouteConfiguration {
    /// The route's resource, which setting any of its keys makes.
    fileprivate var draftedResource: Resource {
        get { resource ?? Resource() }
        set { resource = newValue }
    }
}

extension Setting where Root: Sendable {
    /// The same key, which is not shown where the condition does not hold.
    func shownOnlyIf(_ condition: @escaping @Sendable (Root) -> Bool) -> Self {
        Self(
            key: key, shape: shape, set: set, show: { [show] root in condition(root) ? show(root) : nil },
            isSecret: isSecret)
    }
}
