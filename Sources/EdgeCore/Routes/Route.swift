import EdgeConfiguration
import HTTPWire
import NIOCore

/// One configured route, with everything that matching needs prepared.
package final class Route: Sendable {
    /// The route as configured.
    package let configuration: RouteConfiguration
    /// The path prefix without a trailing slash; empty for `/`.
    package let prefix: [UInt8]
    /// The host it is bound to, lower-case; nil for any host.
    package let host: [UInt8]?
    /// The methods it takes; nil for all registered ones.
    package let methods: Set<[UInt8]>?
    /// The number of the pool of upstreams that serves it.
    package let index: Int
    /// What a request must present. Kept ready, so that no request copies the configuration.
    package let access: AccessTerms
    /// What the upstream is told of the caller.
    package let identity: IdentityFields
    /// `aud` of the assertion.
    package let assertionAudience: String
    /// Whether answers end when the credentials that admitted them do.
    package let isLeased: Bool
    /// The most bytes of a request body; nil for the limit of `server.max_body`.
    package let maxBody: Int64?
    /// How long the upstream may take.
    package let timeout: TimeAmount
    /// Whether the gateway answers CORS questions on this route.
    package let ownsCORS: Bool

    /// Whether each caller may send only so many requests.
    package let isLimited: Bool
    /// Whether the client must have shown a certificate in the TLS handshake.
    package let requiresCertificate: Bool
    /// What agents are told when they are refused; nil for a route that is no resource.
    package let resourceChallenge: ResourceChallenge?

    /// Prepares a route.
    /// - Parameter issuer: the issuer, with which the identifier of a resource begins.
    package init(_ configuration: RouteConfiguration, index: Int, issuer: String = "") {
        self.configuration = configuration
        self.access = configuration.access(issuer: issuer)
        self.identity = IdentityFields(configuration.identity)
        self.resourceChallenge = configuration.resource.map {
            ResourceChallenge(
                issuer: issuer, path: configuration.path,
                scopes: configuration.scopes.isEmpty ? $0.scopes : configuration.scopes)
        }
        self.assertionAudience = configuration.assertionAudience
        self.isLeased = configuration.lease
        self.isLimited = configuration.limit != nil
        self.requiresCertificate = configuration.clientCertificate == .required
        self.maxBody = configuration.maxBody.map(Int64.init)
        self.timeout = .milliseconds(configuration.timeout)
        self.ownsCORS = configuration.cors == .gateway
        var prefix = Array((RoutePath.canonical(configuration.path) ?? configuration.path).utf8)
        while prefix.last == UInt8(ascii: "/") { prefix.removeLast() }
        self.prefix = prefix
        self.host = configuration.host.map { HostName.withoutPort(Array($0.lowercased().utf8)) }
        self.methods = configuration.methods.map { Set($0.map { Array($0.utf8) }) }
        self.index = index
    }

    /// Whether the request's method may be forwarded. An unregistered method is forwarded only where the route names
    /// it.
    package func takesMethod(of head: RequestHead) -> Bool {
        switch head.knownMethod {
        case .trace, .connect: false
        case .other: head.withBytes(head.method) { takesMethod(Array($0)) }
        default: true
        }
    }

    /// The same for a method that another proxy names. Whether it is among `methods` is checked by the table.
    package func takesMethod(_ method: [UInt8]) -> Bool {
        if MethodRegistry.unforwarded.contains(method) { return false }
        return methods != nil || MethodRegistry.names.contains(method)
    }

    /// The methods for `Allow`: the route's own list, or the usual ones where it takes any.
    package var allowedMethods: [String] {
        guard let methods else { return MethodRegistry.usual }
        return methods.subtracting(MethodRegistry.unforwarded).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    /// Whether the path is the prefix or below it: `/orders` does not cover `/orders2`.
    func covers(_ path: [UInt8]) -> Bool {
        guard path.starts(with: prefix) else { return false }
        return path.count == prefix.count || prefix.isEmpty || path[prefix.count] == UInt8(ascii: "/")
    }

    /// The path as sent to the upstream.
    package func upstreamPath(of path: [UInt8]) -> ArraySlice<UInt8> {
        guard configuration.stripPrefix, !prefix.isEmpty else { return path[...] }
        let rest = path.dropFirst(prefix.count)
        return rest.isEmpty ? ArraySlice([UInt8(ascii: "/")]) : rest
    }
}
