import EdgeCore
import GatewayAPI

/// The gateway's own paths, for checks of a configuration. Those at the root that exist only with a resource,
/// `/authorize` and `/register`, are not among them.
package enum GatewayPaths {
    private static let own = OwnPaths(api: APIResponder.paths)

    /// Whether the path is the gateway's own, so that nothing at or below it is ever forwarded by a route.
    package static func keep(_ path: String) -> Bool { own.find(Array(path.utf8)) != nil }
}
