import EdgeCore
import GatewayAPI

/// The gateway's own paths, for checks of a configuration.
package enum GatewayPaths {
    private static let own = OwnPaths(api: APIResponder.paths)
    private static let ownWithResource = OwnPaths(api: APIResponder.pathsWithResource)

    /// Whether the path is the gateway's own, so that nothing at or below it is ever forwarded by a route. Those at the
    /// root that exist only with a resource, `/authorize` and `/register`, are not among them.
    package static func keep(_ path: String) -> Bool { own.find(Array(path.utf8)) != nil }

    /// Whether the path is the gateway's own where there is a resource, and left to routes where there is none.
    package static func keepWithResource(_ path: String) -> Bool {
        !keep(path) && ownWithResource.find(Array(path.utf8)) != nil
    }
}
