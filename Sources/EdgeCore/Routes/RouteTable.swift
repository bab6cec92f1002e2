import EdgeConfiguration
import HTTPWire
import NIOCore

/// The configured routes. The longest prefix wins, and among equal prefixes the one that names a host.
package struct RouteTable: Sendable {
    /// The result of looking up a request.
    package enum Match {
        case route(Route)
        /// The path is routed, but not for this method; with the methods that are.
        case methodNotAllowed([String])
        case none
    }

    /// The routes, in the order in which they are tried.
    package let routes: [Route]
    /// The hosts of which a route covers every path.
    private let wholeHosts: Set<[UInt8]>
    private let namesHosts: Bool
    private let namesMethods: Bool

    /// Prepares the routes for matching.
    /// - Parameter issuer: the issuer, with which the identifiers of resources begin.
    package init(_ configurations: [RouteConfiguration], issuer: String = "") {
        routes = configurations.enumerated().map { Route($1, index: $0, issuer: issuer) }.sorted { a, b in
            if a.prefix.count != b.prefix.count { return a.prefix.count > b.prefix.count }
            return a.host != nil && b.host == nil
        }
        wholeHosts = Set(routes.filter { $0.configuration.path == "/" }.compactMap(\.host))
        namesHosts = routes.contains { $0.host != nil }
        namesMethods = routes.contains { $0.methods != nil }
    }

    /// Whether a route that names this host covers every path on it.
    package func coverWhole(host: String) -> Bool {
        !wholeHosts.isEmpty && wholeHosts.contains(HostName.withoutPort(Array(host.lowercased().utf8)))
    }

    /// Matches a request. Host and method are only compared where a route names them.
    ///
    /// A preflight is matched by the method that it asks about, whether or not the route takes `OPTIONS` itself.
    package func match(path: [UInt8], host: String, head: RequestHead) -> Match {
        let host = namesHosts ? HostName.withoutPort(Array(host.lowercased().utf8)) : []
        guard namesMethods else { return match(path: path, host: host, method: []) }
        if head.knownMethod == .options, head.present.contains(.origin),
            let asked = head.only(.accessControlRequestMethod),
            case .route(let route) = match(path: path, host: host, method: head.withBytes(asked.value) { Array($0) })
        {
            return .route(route)
        }
        return match(path: path, host: host, method: head.withBytes(head.method) { Array($0) })
    }

    /// Matches a path, a host in lower case without port, and a method.
    package func match(path: [UInt8], host: [UInt8], method: [UInt8]) -> Match {
        var allowed: [String] = []
        var prefixLength: Int?
        for route in routes {
            // A shorter prefix is not considered once a longer one covers the path.
            if let prefixLength, route.prefix.count < prefixLength { break }
            guard route.covers(path), route.host.map({ $0 == host }) ?? true else { continue }
            prefixLength = route.prefix.count
            guard let methods = route.methods else { return .route(route) }
            if methods.contains(method) { return .route(route) }
            allowed += route.allowedMethods
        }
        return allowed.isEmpty ? .none : .methodNotAllowed(Set(allowed).sorted())
    }

    /// Whether a server that reads `path` as `other` would find another route, or one of the gateway's own paths.
    static func isAnother(
        _ other: [UInt8], than path: [UInt8], besides own: OwnPaths, match: ([UInt8]) -> Match
    ) -> Bool {
        if own.find(other) != nil { return true }
        switch (match(path), match(other)) {
        case (.route(let a), .route(let b)): return a !== b
        case (.none, .none), (.methodNotAllowed, .methodNotAllowed): return false
        default: return true
        }
    }

    /// Whether a route of another configuration is still there: the same path, host and methods.
    package func contains(_ route: Route) -> Bool {
        routes.contains { $0.prefix == route.prefix && $0.host == route.host && $0.methods == route.methods }
    }
}
