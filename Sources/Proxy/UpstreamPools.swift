import EdgeCore

/// The pools of one event loop, one per route and one for the external Runtime.
package final class UpstreamPools {
    private let pools: [UpstreamPool]
    package let runtime: UpstreamPool?

    package init(pools: [UpstreamPool], runtime: UpstreamPool?) {
        self.pools = pools
        self.runtime = runtime
    }

    package func pool(for route: Route) -> UpstreamPool? {
        pools.indices.contains(route.index) ? pools[route.index] : nil
    }
}
