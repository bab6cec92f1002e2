import EdgeConfiguration
import Experience

/// The keys of one entry of `routes`.
enum RouteSettings {
    static let all: [Setting<RouteConfiguration>] = [
        .one("path", \.path, .routePath),
        .maybe("host", \.host, .hostName),
        .maybeList("methods", \.methods, .method),
        .list("upstream", \.upstreams, .endpoint(schemes: ["http", "https"]), orOne: true),
        .maybe("upstream_ca", \.upstreamTLS.ca, .text("the path of a PEM file")),
        .maybe("upstream_name", \.upstreamTLS.name, .serverName),
        .maybe("upstream_certificate", \.upstreamTLS.certificate, .text("the path of a PEM file")),
        .maybe("upstream_key", \.upstreamTLS.key, .text("the path of a PEM file")),
        .one("require", \.require, .word),
        .list("scopes", \.scopes, .scope),
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
    ]

    /// Header names that frame the message or apply to a connection, which a route may not set.
    private static let ownNames = [
        "connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    ]

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
        })

    private static func fault(name: String, value: String) -> String? {
        guard NetworkText.isToken(name), name.utf8.allSatisfy({ $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: ".") })
        else { return "expected a field name such as X-Api-Key" }
        let lowered = name.lowercased()
        guard !ownNames.contains(lowered), !lowered.hasPrefix("x-gatehouse-"), !lowered.hasPrefix("x-forwarded-")
        else { return "'\(name)' is written by the gateway itself" }
        let isPlain = value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        return isPlain ? nil : "expected a value of visible ASCII for '\(name)'"
    }
}

/// The keys of one entry of `issuers`.
enum IssuerSettings {
    static let all: [Setting<IssuerConfiguration>] = [
        .one("issuer", \.issuer, .issuer),
        .one("jwks", \.jwks, .keySource),
        .list("audience", \.audience, .text("a name"), orOne: true),
        .list("tenants", \.tenants, .text("a tenant")),
        .list("algorithms", \.algorithms, AlgorithmNames.verifying),
        .list("scopes", \.scopes, .scope),
    ]
}
