import AuthorizationServer
import EdgeConfiguration
import EdgeCore
import Experience
import Foundation

/// The rules that involve several keys, each of which is sound by itself.
struct ConfigurationRules {
    private let draft: ConfigurationDraft
    private let configuration: GatewayConfiguration
    /// What a fault names whose key is in no file.
    private let place: String
    /// What the `judge…` calls so far have found.
    private(set) var faults: [ConfigurationFault] = []

    /// - Parameter place: the place of faults whose keys have none.
    init(_ draft: ConfigurationDraft, place: String) {
        self.draft = draft
        self.configuration = draft.configuration
        self.place = place
    }

    /// - Parameter places: the keys whose place is named, the first that is written somewhere; nil for `key` or the
    ///   nearest around it.
    private mutating func refuse(_ key: String, at places: [String]? = nil, _ message: String) {
        let found = places.map { $0.compactMap { draft.places[$0] }.first } ?? draft.places.nearest(to: key)
        faults.append(.init(place: found ?? place, key: key, message: message))
    }

    /// TLS needs certificate and key, and the listeners must differ.
    mutating func judgeListeners() {
        if (draft.certificate == nil) != (draft.certificateKey == nil) {
            refuse(
                "server.tls", at: ["server.tls.certificate", "server.tls.key"],
                "TLS needs both 'certificate' and 'key': add the other, or remove both")
        }
        if let place = draft.placeOfTLS, isWithoutTLSKeys {
            faults.append(
                .init(
                    place: place, key: "server.tls",
                    message: "names no certificate, so there would be no TLS: give 'certificate' and 'key', or remove "
                        + "'tls'"))
        }
        if let message = complaintAboutAdmin {
            refuse("server.admin", at: ["server.admin", "server.listen"], message)
        }
        if configuration.server.proxyProtocol, configuration.server.trustedProxies.isEmpty {
            refuse(
                "server.proxy_protocol", at: ["server.proxy_protocol"],
                "needs server.trusted_proxies: without it every connection is reset; list the balancers")
        }
    }

    /// Whether neither `server.tls.certificate` nor its key is given anywhere, not even as `off`, nor one of the keys
    /// whose need of them is a fault of its own.
    private var isWithoutTLSKeys: Bool {
        draft.places["server.tls.certificate"] == nil && draft.places["server.tls.key"] == nil
            && draft.certificates.isEmpty && draft.clientCA == nil
    }

    /// Why `server.admin` may take connections of the public: nil if it can't. With `server.reuse_port` the system lets
    /// both listen on the same port and gives either of them a connection. A name may stand for any address.
    private var complaintAboutAdmin: String? {
        let listen = configuration.server.listen
        guard let admin = configuration.server.admin, listen.port != 0 || listen.path != nil else { return nil }
        if admin == listen { return "must not be the public listener: use another port or path" }
        guard admin.path == nil, listen.path == nil, admin.port == listen.port else { return nil }
        let addresses = [admin, listen].compactMap { PackedAddress.bytes(of: $0.host) }
            .filter { address in address.contains { $0 != 0 } }
        if addresses.count == 2, addresses.first != addresses.last { return nil }
        return "has the port of the public listener, which may be the same: use another port"
    }

    /// The audit log and the access log must not be one file.
    mutating func judgeFiles() {
        guard let audit = configuration.audit.file, let access = configuration.log.access else { return }
        if URL(fileURLWithPath: audit).standardizedFileURL == URL(fileURLWithPath: access).standardizedFileURL {
            refuse(
                "log.access", at: ["log.access"],
                "must not be the file of audit.file, whose chain it would break: use another")
        }
    }

    /// Resources of agents, and the tools of the embedded Runtime.
    mutating func judgeResources() {
        if configuration.hasResources || configuration.runtime.mcp, let issuer = configuration.tokens.issuer,
            !ResourceIdentifier.isOrigin(issuer)
        {
            refuse(
                "tokens.issuer", at: ["tokens.issuer"],
                "a route has 'resource', so this must be an origin: https://host, in lower case, without a default port, "
                    + "path or slash")
        }
        if configuration.runtime.mcp, configuration.runtime.url != nil || configuration.hasRouteAtTools {
            refuse(
                "runtime.mcp", at: ["runtime.mcp"],
                "offers the embedded Runtime at /mcp: remove 'runtime.url', and your route at /mcp")
        }
        if configuration.withRuntimeTools().hasResources {
            for key in routesAtRootPaths {
                refuse(
                    key,
                    "the gateway keeps this path for itself where there is a 'resource' or 'runtime.mcp', so nothing would "
                        + "be forwarded: use another")
            }
        }
        for (index, route) in configuration.routes.enumerated() {
            let servers = route.resource?.authorizationServers ?? []
            for server in servers where !configuration.isAuthorizationServer(server) {
                refuse(
                    "routes[\(index)].resource.authorization_servers",
                    "\(FoundText.quoted(server)) is neither 'tokens.issuer' nor one of 'issuers' with exactly one "
                        + "tenant")
            }
        }
    }

    /// No two resources may have one identifier, the issuer and the path: a token for one would open the other.
    mutating func judgeResourceIdentifiers() {
        for (index, first) in configuration.withRuntimeTools().doubledResources {
            if configuration.routes.indices.contains(index) {
                refuse(
                    "routes[\(index)].resource",
                    "routes[\(first)] is the same resource; resources are told apart by their path, and not by 'host': "
                        + "use another path")
            } else {
                refuse(
                    "routes[\(first)].resource",
                    "'runtime.mcp' is the same resource; resources are told apart by their path, and not by 'host': "
                        + "use another path")
            }
        }
    }

    /// The keys of the paths at which the authorization server of agents answers, and not the route.
    private var routesAtRootPaths: [String] {
        configuration.routes.enumerated()
            .filter { !$0.element.upstreams.isEmpty && GatewayPaths.keepWithResource($0.element.path) }
            .map { "routes[\($0.offset)].path" }
    }

    /// What is signed and what is trusted.
    mutating func judgeTokens() {
        let audience = configuration.tokens.audience
        if audience.isEmpty { refuse("tokens.audience", at: ["tokens.audience"], "expected at least one name") }
        guard let issuer = configuration.tokens.issuer else { return }
        for name in configuration.protectedResources(issuer: issuer).map(\.identifier) where audience.contains(name) {
            refuse(
                "tokens.audience", at: ["tokens.audience"],
                "\(FoundText.quoted(name)) is the identifier of a resource, whose tokens must pass nowhere else")
        }
        if let domain = configuration.passkeys.rpID, !PasskeysConfiguration.mayUse(domain, issuer: issuer) {
            refuse(
                "passkeys.rp_id", at: ["passkeys.rp_id"],
                "expected the host of tokens.issuer or a domain above it, of at least two labels")
        }
        for (index, trusted) in configuration.issuers.enumerated() where trusted.atGate && trusted.issuer == issuer {
            refuse(
                "issuers[\(index)].at_gate", "is the gateway itself, whose own tokens are accepted anyhow: remove it")
        }
    }
}
