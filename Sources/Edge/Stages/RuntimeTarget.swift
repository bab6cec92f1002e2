import EdgeConfiguration
import EdgeCore

/// The external Runtime as a route.
enum RuntimeTarget {
    /// It needs a token and a session, and its assertions have the audience `runtime`.
    static let route: Route = {
        var configuration = RouteConfiguration(path: "/api/runtime")
        configuration.require = .tokenAndSession
        configuration.audience = "runtime"
        return Route(configuration, index: -1)
    }()
}
