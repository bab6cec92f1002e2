import HTTPWire
import NIOCore

/// One configured route, with what matching needs made ready once.
final class Route: Sendable {
    let configuration: RouteConfiguration
    /// The path prefix without a trailing slash; empty for `/`.
    let prefix: [UInt8]
    /// The host it is bound to, lower-case; nil for any.
    let host: [UInt8]?
    let methods: Set<[UInt8]>?
    /// Which pool of upstreams serves it.
    let index: Int
    /// What every request asks for, so that none copies the configuration.
    let requirement: RouteConfiguration.Requirement
    let scopes: [String]
    let timeout: TimeAmount
    let ownsCORS: Bool

    init(_ configuration: RouteConfiguration, index: Int) {
        self.configuration = configuration
        self.requirement = configuration.require
        self.scopes = configuration.scopes
        self.timeout = .milliseconds(configuration.timeout)
        self.ownsCORS = configuration.cors == .gateway
        var prefix = Array((RoutePath.canonical(configuration.path) ?? configuration.path).utf8)
        while prefix.last == UInt8(ascii: "/") { prefix.removeLast() }
        self.prefix = prefix
        self.host = configuration.host.map { Dispatcher.withoutPort(Array($0.lowercased().utf8)) }
        self.methods = configuration.methods.map { Set($0.map { Array($0.utf8) }) }
        self.index = index
    }

    /// Whether the request's method may be forwarded: one that no registry knows only where the route names it.
    func takesMethod(of head: RequestHead) -> Bool {
        switch head.knownMethod {
        case .trace, .connect: false
        case .other: head.withBytes(head.method) { takesMethod(Array($0)) }
        default: true
        }
    }

    /// The same of a method that another proxy names; whether it is among `methods` is for the table to say.
    func takesMethod(_ method: [UInt8]) -> Bool {
        if MethodRegistry.unforwarded.contains(method) { return false }
        return methods != nil || MethodRegistry.names.contains(method)
    }

    /// What `Allow` says of the route: its own list, or the usual ones where it takes any.
    var allowedMethods: [String] {
        guard let methods else { return MethodRegistry.usual }
        return methods.subtracting(MethodRegistry.unforwarded).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    /// Whether the path is the prefix or below it: `/orders` is not `/orders2`.
    func covers(_ path: [UInt8]) -> Bool {
        guard path.starts(with: prefix) else { return false }
        return path.count == prefix.count || prefix.isEmpty || path[prefix.count] == UInt8(ascii: "/")
    }

    /// The path as the upstream is asked for it.
    func upstreamPath(of path: [UInt8]) -> ArraySlice<UInt8> {
        guard configuration.stripPrefix, !prefix.isEmpty else { return path[...] }
        let rest = path.dropFirst(prefix.count)
        return rest.isEmpty ? ArraySlice([UInt8(ascii: "/")]) : rest
    }
}

/// The configured routes; the longest prefix wins, and among equals the one that names a host.
struct RouteTable: Sendable {
    enum Match {
        case route(Route)
        /// The path is routed, but not for this method.
        case methodNotAllowed([String])
        case none
    }

    let routes: [Route]
    private let namesHosts: Bool
    private let namesMethods: Bool

    init(_ configurations: [RouteConfiguration]) {
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
    func match(path: [UInt8], host: String, head: RequestHead) -> Match {
        let host = namesHosts ? Dispatcher.withoutPort(Array(host.lowercased().utf8)) : []
        guard namesMethods else { return match(path: path, host: host, method: []) }
        if head.knownMethod == .options, head.present.contains(.origin),
            let asked = head.only(.accessControlRequestMethod),
            case .route(let route) = match(path: path, host: host, method: head.withBytes(asked.value) { Array($0) })
        {
            return .route(route)
        }
        return match(path: path, host: host, method: head.withBytes(head.method) { Array($0) })
    }

    func match(path: [UInt8], host: [UInt8], method: [UInt8]) -> Match {
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

/// The methods that are registered for HTTP.
enum MethodRegistry {
    /// What `Allow` names where anything that is registered may be sent.
    static let usual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// No proxy forwards these: one would show a caller the fields that the gateway adds, the other open a tunnel.
    static let unforwarded: Set<[UInt8]> = [Array("TRACE".utf8), Array("CONNECT".utf8)]
    /// All others.
    static let names: Set<[UInt8]> = Set(
        """
        ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL
        MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH
        UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL
        """.split { $0 == " " || $0 == "\n" }.map { Array($0.utf8) })
}

/// Path parameters (`;a=b` behind a segment), which some servers cut off before they look at a path.
enum PathParameters {
    /// Whether the path with its parameters cut off is another one to the gateway: an own path, or another route.
    static func areAmbiguous(in path: [UInt8], match: ([UInt8]) -> RouteTable.Match) -> Bool {
        let cut = cuttingParameters(of: path)
        if cut == path { return false }
        if hasEmptySegment(cut) || OwnPath(cut) != nil { return true }
        switch (match(path), match(cut)) {
        case (.route(let a), .route(let b)): return a !== b
        case (.none, .none), (.methodNotAllowed, .methodNotAllowed): return false
        default: return true
        }
    }

    /// The path without what stands from a semicolon, raw or escaped, to the end of its segment.
    static func cuttingParameters(of path: [UInt8]) -> [UInt8] {
        var cut: [UInt8] = []
        var isSkipping = false
        for (index, byte) in path.enumerated() {
            if byte == UInt8(ascii: "/") { isSkipping = false }
            let isEscaped = byte == UInt8(ascii: "%") && path[index...].starts(with: "%3B".utf8)
            if byte == UInt8(ascii: ";") || isEscaped { isSkipping = true }
            if !isSkipping { cut.append(byte) }
        }
        return cut
    }

    private static func hasEmptySegment(_ path: [UInt8]) -> Bool {
        zip(path, path.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: "/") }
    }
}

/// The paths that are the gateway's own; they win over routes.
enum OwnPath {
    /// The JSON endpoints; the path as their router knows it (`/api/sessions…` is `/api/session…`).
    case api(String)
    /// The decision endpoint, with the path appended to it, if any.
    case verify(appended: [UInt8])
    /// The agent socket.
    case agent
    /// The diagnostic echo socket.
    case echo
    /// Anything else under `/api/runtime/`.
    case runtime

    init?(_ path: [UInt8]) {
        // Most traffic is not for the gateway itself: one look tells.
        guard path.count > 4 else { return nil }
        switch path[1] {
        case UInt8(ascii: "a"), UInt8(ascii: "o"), UInt8(ascii: "."): break
        default: return nil
        }
        if Self.isOrBelow(path, "/api/auth/verify") {
            self = .verify(appended: Array(path.dropFirst("/api/auth/verify".utf8.count)))
        } else if path.elementsEqual("/api/runtime/agent".utf8) {
            self = .agent
        } else if path.elementsEqual("/api/runtime/echo".utf8) {
            self = .echo
        } else if Self.isOrBelow(path, "/api/runtime") {
            self = .runtime
        } else if Self.isOrBelow(path, "/api/sessions") {
            self = .api("/api/session" + String(decoding: path.dropFirst("/api/sessions".utf8.count), as: UTF8.self))
        } else if Self.apiPrefixes.contains(where: { Self.isOrBelow(path, $0) }) {
            self = .api(String(decoding: path, as: UTF8.self))
        } else {
            return nil
        }
    }

    private static let apiPrefixes = [
        "/api/session", "/api/auth", "/api/intent", "/oauth2", "/.well-known/jwks.json",
        "/.well-known/oauth-authorization-server",
    ]

    private static func isOrBelow(_ path: [UInt8], _ prefix: String) -> Bool {
        guard path.starts(with: prefix.utf8) else { return false }
        let count = prefix.utf8.count
        return path.count == count || path[count] == UInt8(ascii: "/")
    }
}
