import EdgeConfiguration
import EdgeCore
import NIOCore
import NIOSSL
import Proxy

/// What the configuration's entries become in the modules below.
extension GatewayConfiguration {
    /// The pools of one event loop. A connection to an upstream may take as long as the route's `timeout`, and at most
    /// 5 s.
    ///
    /// - Parameters:
    ///   - tls: the TLS context of each route; nil where no upstream of the route uses TLS.
    ///   - health: what all loops know of the upstreams.
    ///   - makesChecks: whether this loop checks the upstreams.
    ///   - watch: makes what is told of the upstreams of a route, by its path.
    ///   - loop: the loop that the pools are confined to.
    /// - Throws: ``GatewayError`` `.upstreamURL` for an upstream whose URL can't be used.
    func makePools(
        loop: any EventLoop, flushes: FlushQueue, tls: [NIOSSLContext?], health: UpstreamHealthRegistry, loops: Int,
        makesChecks: Bool, watch: (_ route: String) -> UpstreamPool.Watch
    ) throws -> UpstreamPools {
        let pools = try zip(routes, tls).map { route, tls in
            let targets = try route.upstreams.map(Self.target)
            var supervision = UpstreamPool.Supervision()
            supervision.terms = UpstreamTerms(route)
            supervision.health = targets.map { health.health(of: route, $0.place) }
            supervision.loops = loops
            supervision.makesChecks = makesChecks
            supervision.watch = watch(route.path)
            return UpstreamPool(
                loop: loop, flushes: flushes, targets: targets, tls: tls, serverName: route.upstreamTLS.name,
                connectTimeout: .milliseconds(min(5_000, route.timeout)), supervision: supervision)
        }
        // `runtime.url` supports only plain connections.
        let runtimePool = try runtime.url.map { url in
            let target = try Self.target(url)
            var supervision = UpstreamPool.Supervision()
            supervision.health = [health.health(of: Self.runtimeRoute, target.place)]
            supervision.watch = watch(Self.runtimeRoute.path)
            return UpstreamPool(
                loop: loop, flushes: flushes, targets: [target], tls: nil, connectTimeout: .seconds(5),
                supervision: supervision)
        }
        return UpstreamPools(pools: pools, runtime: runtimePool)
    }

    /// Stands for the external Runtime where upstreams are named by their routes.
    private static let runtimeRoute = RouteConfiguration(path: "api")

    /// Every upstream by its route, for what all event loops know of them.
    ///
    /// - Throws: ``GatewayError`` `.upstreamURL`.
    func watchedUpstreams() throws -> [(route: RouteConfiguration, places: [String])] {
        let routed = try routes.map { route in
            (route: route, places: try route.upstreams.map { try Self.target($0).place })
        }
        return try routed
            + (runtime.url.map { [(route: Self.runtimeRoute, places: [try Self.target($0).place])] } ?? [])
    }

    private static func target(_ url: String) throws -> UpstreamTarget {
        guard let target = UpstreamTarget(url) else {
            throw GatewayError(
                .upstreamURL,
                "an upstream or runtime.url is no address: give http://HOST[:PORT], https://HOST[:PORT] or unix:/PATH")
        }
        return target
    }

    /// Every upstream by its route's path, as the metrics name them.
    ///
    /// - Throws: ``GatewayError`` `.upstreamURL`.
    func upstreamPlaces() throws -> [(route: String, place: String)] {
        let routed = try routes.flatMap { route in
            try route.upstreams.map { (route: route.path, place: try Self.target($0).place) }
        }
        return try routed + (runtime.url.map { [(route: "api", place: try Self.target($0).place)] } ?? [])
    }
}
