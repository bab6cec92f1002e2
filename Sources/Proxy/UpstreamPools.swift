import EdgeCore

/// The pools of one event loop, one per route and one for the external Runtime.
package final class UpstreamPools {
    private let pools: [UpstreamPool]
    /// The pool of the external Runtime; nil when the Runtime is embedded.
    package let runtime: UpstreamPool?

    /// - Parameters:
    ///   - pools: one for each route, in the order of the configuration.
    ///   - runtime: the pool of the external Runtime; nil where there is none.
    package init(pools: [UpstreamPool], runtime: UpstreamPool?) {
        self.pools = pools
        self.runtime = runtime
    }

    /// The pools of all routes, by their number.
    package var all: [UpstreamPool] { pools }

    /// The pool of a route; nil when it has none. Routes that stand for the gateway itself have negative numbers and
    /// none.
    package func pool(for route: Route) -> UpstreamPool? {
        pools.indices.contains(route.index) ? pools[route.index] : nil
    }
}
