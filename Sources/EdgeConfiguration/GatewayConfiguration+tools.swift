extension GatewayConfiguration {
    /// The path at which the embedded Runtime answers as a server of the Model Context Protocol.
    package static let toolsPath = "/mcp"
    /// The scope that every request there needs.
    package static let toolsScope = "intents"

    /// The configuration with the route that `runtime.mcp` stands for. Where it is off, and where the route is there
    /// already, nothing changes.
    package func withRuntimeTools() -> GatewayConfiguration {
        guard runtime.mcp, !routes.contains(where: \.servesRuntime) else { return self }
        var route = RouteConfiguration(path: Self.toolsPath)
        route.servesRuntime = true
        route.require = .token
        route.scopes = [Self.toolsScope]
        var resource = RouteConfiguration.Resource()
        resource.name = "Gatehouse Runtime"
        resource.scopes = [Self.toolsScope]
        route.resource = resource
        var configuration = self
        configuration.routes.append(route)
        return configuration
    }

    /// Whether a route of the operator's is at the path of the tools.
    package var hasRouteAtTools: Bool {
        routes.contains { !$0.servesRuntime && $0.host == nil && $0.path.utf8.elementsEqual(Self.toolsPath.utf8) }
    }

    /// Refuses `runtime.mcp` beside an external Runtime, and beside a route at the same path.
    package func checkTools() throws(ConfigurationError) {
        guard runtime.mcp, runtime.url != nil || hasRouteAtTools else { return }
        throw ConfigurationError(.toolsContradicted, key: "runtime.mcp")
    }
}
