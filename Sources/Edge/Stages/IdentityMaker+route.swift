import EdgeConfiguration
import EdgeCore
import Gate

extension IdentityMaker.Place {
    /// What the upstream of a route is told.
    ///
    /// - Parameter isRuntime: whether the upstream is the external Runtime, which is told the session as well.
    init(_ route: Route, isRuntime: Bool) {
        self.init(
            route: route.index, audience: route.assertionAudience, told: route.identity, isRuntime: isRuntime,
            tellsClient: route.access.resource != nil)
    }
}
