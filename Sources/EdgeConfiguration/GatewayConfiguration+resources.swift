import AuthorizationServer
import SecurityGuard

extension RouteConfiguration {
    /// The identifier of the route's resource; nil if it is none.
    package func resourceIdentifier(issuer: String) -> String? {
        resource == nil ? nil : ResourceIdentifier.identifier(issuer: issuer, path: path)
    }
}

extension GatewayConfiguration {
    /// The protected resources, each once.
    package func protectedResources(issuer: String) -> [ProtectedResource] {
        var resources: [ProtectedResource] = []
        for route in routes {
            guard let resource = route.resource, let identifier = route.resourceIdentifier(issuer: issuer),
                !resources.contains(where: { ResourceIdentifier.areSame($0.identifier, identifier) })
            else { continue }
            let servers = resource.authorizationServers
            resources.append(
                ProtectedResource(
                    identifier: identifier, path: route.path, name: resource.name,
                    // Access without the person is the client's wish, and no scope of the resource.
                    scopes: resource.scopes.filter { !$0.utf8.elementsEqual("offline_access".utf8) },
                    documentation: resource.documentation, offline: resource.offline,
                    authorizationServers: servers.isEmpty ? [issuer] : servers))
        }
        return resources
    }

    /// The resources that other issuers' tokens are accepted for, one for each issuer.
    package func foreignResources(issuer: String) -> [ForeignResource] {
        protectedResources(issuer: issuer).flatMap { resource in
            resource.authorizationServers.filter { !$0.utf8.elementsEqual(issuer.utf8) }.map {
                ForeignResource(identifier: resource.identifier, issuer: $0, scopes: resource.scopes)
            }
        }
    }

    /// The identifiers of the resources that the gateway itself issues tokens for.
    package func ownResources(issuer: String) -> [String] {
        protectedResources(issuer: issuer).filter { $0.isGranted(by: issuer) }.map(\.identifier)
    }

    /// Whether any route is a protected resource.
    package var hasResources: Bool { routes.contains { $0.resource != nil } }

    /// The routes whose resource is on another host at the path of a resource before them. Both have one identifier, so
    /// that a token for one would open the other. Routes of one host that share a path by their methods are one
    /// resource.
    package var doubledResources: [(index: Int, first: Int)] {
        var doubled: [(index: Int, first: Int)] = []
        for (index, route) in routes.enumerated() where route.resource != nil {
            let first = routes.prefix(index).firstIndex { other in
                other.resource != nil && other.host != route.host && other.path.utf8.elementsEqual(route.path.utf8)
            }
            if let first { doubled.append((index, first)) }
        }
        return doubled
    }

    /// Refuses resources that could not work: each needs an identifier of its own, the issuer must be an origin, a
    /// resource takes a token in a header field and nothing else, and other authorization servers must be among
    /// `issuers`, each for one tenant.
    package func checkResources() throws(ConfigurationError) {
        guard hasResources else { return }
        if let doubled = withRuntimeTools().doubledResources.first {
            let index = routes.indices.contains(doubled.index) ? doubled.index : doubled.first
            throw ConfigurationError(.resourceDoubled, key: "routes[\(index)].resource")
        }
        if let issuer = tokens.issuer, !ResourceIdentifier.isOrigin(issuer) {
            throw ConfigurationError(.issuerNoOrigin, key: "tokens.issuer")
        }
        for (index, route) in routes.enumerated() where route.resource != nil {
            // An upstream that answers preflights itself would be asked by pages of any origin, without a token.
            if route.require != .token || route.webSocket || route.forwardAuthorization || route.cors == .upstream {
                throw ConfigurationError(.resourceContradicted, key: "routes[\(index)].resource")
            }
            for server in route.resource?.authorizationServers ?? [] where !isAuthorizationServer(server) {
                throw ConfigurationError(
                    .authorizationServerUnknown, key: "routes[\(index)].resource.authorization_servers")
            }
        }
    }

    /// Whether an entry of `authorization_servers` is the gateway, or another issuer whose users all belong to one
    /// tenant.
    package func isAuthorizationServer(_ server: String) -> Bool {
        if let own = tokens.issuer, own.utf8.elementsEqual(server.utf8) { return true }
        return issuers.contains { $0.issuer.utf8.elementsEqual(server.utf8) && $0.tenants.count == 1 }
    }
}
