import EdgeConfiguration
import Synchronization

/// The standings of all upstreams, by route and place. Those that a reload keeps in the configuration stay as they are.
/// Safe from any thread.
package final class UpstreamStandings: Sendable {
    private struct Key: Hashable {
        let path: String
        let host: String?
        let methods: [String]?
        let place: String
    }

    private let known = Mutex<[Key: UpstreamStanding]>([:])

    package init() {}

    /// Has the upstreams of these routes obey what their routes say now, and forgets all others.
    ///
    /// - Parameter routes: each with the places of its upstreams.
    package func adopt(_ routes: [(route: RouteConfiguration, places: [String])]) {
        var kept: [Key: UpstreamStanding] = [:]
        let old = known.withLock { $0 }
        for (route, places) in routes {
            let terms = UpstreamTerms(route)
            for place in places {
                let key = Self.key(route, place)
                let standing = kept[key] ?? old[key] ?? UpstreamStanding(place: place)
                standing.obey(terms)
                kept[key] = standing
            }
        }
        known.withLock { $0 = kept }
    }

    /// The standing of an upstream; a new one where it was not adopted.
    package func standing(of route: RouteConfiguration, _ place: String) -> UpstreamStanding {
        let key = Self.key(route, place)
        return known.withLock { known in
            if let standing = known[key] { return standing }
            let standing = UpstreamStanding(place: place)
            known[key] = standing
            return standing
        }
    }

    private static func key(_ route: RouteConfiguration, _ place: String) -> Key {
        Key(path: route.path, host: route.host, methods: route.methods, place: place)
    }
}
