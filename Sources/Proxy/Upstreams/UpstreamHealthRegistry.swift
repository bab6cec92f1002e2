import EdgeConfiguration
import Synchronization

/// The health of all upstreams, by route and place. Those that a reload keeps in the configuration stay as they are.
/// Safe from any thread.
package final class UpstreamHealthRegistry: Sendable {
    private struct Key: Hashable {
        let path: String
        let host: String?
        let methods: [String]?
        let place: String
    }

    private let known = Mutex<[Key: SharedUpstreamHealth]>([:])

    /// A registry that knows no upstream yet.
    package init() {}

    /// Applies the terms of these routes to their upstreams, and forgets all others.
    ///
    /// - Parameter routes: each with the places of its upstreams.
    package func adopt(_ routes: [(route: RouteConfiguration, places: [String])]) {
        var kept: [Key: SharedUpstreamHealth] = [:]
        let old = known.withLock { $0 }
        for (route, places) in routes {
            let terms = UpstreamTerms(route)
            for place in places {
                let key = Self.key(route, place)
                let health = kept[key] ?? old[key] ?? SharedUpstreamHealth(place: place)
                health.apply(terms)
                kept[key] = health
            }
        }
        known.withLock { $0 = kept }
    }

    /// The health of an upstream; a new value where it was not adopted.
    package func health(of route: RouteConfiguration, _ place: String) -> SharedUpstreamHealth {
        let key = Self.key(route, place)
        return known.withLock { known in
            if let health = known[key] { return health }
            let health = SharedUpstreamHealth(place: place)
            known[key] = health
            return health
        }
    }

    private static func key(_ route: RouteConfiguration, _ place: String) -> Key {
        Key(path: route.path, host: route.host, methods: route.methods, place: place)
    }
}
