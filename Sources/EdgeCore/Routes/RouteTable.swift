import EdgeConfiguration
import HTTPWire
import NIOCore

/// The configured routes; the longest prefix wins, and among equals the one that names a host.
package struct RouteTable: Sendable {
    package enum Match {
        case route(Route)
        /// The path is routed, but not for this method.
        case methodNotAllowed([String])
        case none
    }

    package let routes: [Route]
    private let namesHosts: Bool
    private let namesMethods: Bool

    package init(_ configurations: [RouteConfiguration]) {
        routes = configurations.enumerated().map { Route($1, index: $0) }.sorted { a, b in
            if a.prefix.count != b.prefix.count { return a.prefix.count > b.prefix.count }
            return a.host != nil && b.host == nil
        }
        namesHosts = routes.contains { $0.host != nil }
        namesMethods = routes.contains { $0.methods != nil }
    }

    /// Matches a request; host and method are only looked at where a route asks for them.
    ///
    /// A preflight asks about the method that it names, whether or not the route takes `OPTIONS` itself.
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

    package func match(path: [UInt8], host: [UInt8], method: [UInt8]) -> Match {
        var allowed: [String] = []
        var prefixLength: Int?
        for route in routes {
            // A shorter prefix has no say once a longer one covers the path.
            if let prefixLength, route.prefix.count < prefixLength { break }
            guard route.covers(path), route.host.map({ $0 == host }) ?? true else { continue }
            prefixLength = route.prefix.count
            guard let methods = route.methods else { return .route(route) }
            if methods.contains(method) { return .route(route) }
            allowed += route.allowedMethods
        }
        return allowed.isEmpty ? .none : .methodNotAllowed(Set(allowed).sorted())
    }
}
