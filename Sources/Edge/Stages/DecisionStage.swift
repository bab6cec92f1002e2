import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore

/// `/api/auth/verify`: tells a proxy in front of the gateway whether a request may pass, by the same gate and for the
/// same canonical path as proxied traffic.
///
/// Nginx `auth_request`, Traefik and Caddy `forward_auth`, HAProxy and Envoy's HTTP `ext_authz` all use it. An
/// ambiguous request is refused. A refusal that is 400 elsewhere is 401 here, since these proxies only handle 2xx, 401
/// and 403. Only `X-Forwarded-*` and `X-Original-*` of a peer in `server.trusted_proxies` describe the request; others
/// are refused with 403, since their sender could claim any path.
struct DecisionStage: GatedStage {
    let dispatcher: Dispatcher
    let request: EdgeRequest
    /// The path after `/api/auth/verify`, as Envoy sends it. Canonical; empty where the path is only in a field.
    let appended: [UInt8]
    /// The route by which the request is judged. Without one, only the credentials are judged.
    private var route = Self.bare

    init(dispatcher: Dispatcher, request: EdgeRequest, appended: [UInt8]) {
        self.dispatcher = dispatcher
        self.request = request
        self.appended = appended
    }

    /// The request that is asked about.
    private struct Original {
        /// Its method; nil where the proxy does not say.
        var method: [UInt8]?
        var path: [UInt8]
        var query: [UInt8]?
        var host: [UInt8]
    }

    /// Finds out which request is asked about, and has the gate judge it.
    ///
    /// - Returns: an exchange only where the store has to be asked; nil when the answer has been given.
    func start() throws(Problem) -> (any Exchange)? {
        // A TRACE is never forwarded, so no proxy may be told to do so.
        if head.knownMethod == .trace { throw Self.wrongMethod }
        guard let original = try original() else {
            // Only header fields count, not the endpoint's own query.
            return try judge(query: nil, method: nil, way: .fields)
        }
        return try judge(original)
    }

    /// Whether the head asks this endpoint, judged by its raw path, for paths that have no canonical form. Such a
    /// request is refused in a form that the proxy understands as well.
    static func isAsked(_ head: RequestHead) -> Bool {
        head.withBytes(head.path) { $0.starts(with: "/api/auth/verify/".utf8) }
    }

    // MARK: What is asked about

    /// Also by a slash alone, which is how Envoy asks about `/`.
    private var isAppended: Bool { !appended.isEmpty }

    /// The request that is asked about; nil when no forwarded field describes one. Then only the credentials are
    /// judged.
    private func original() throws(Problem) -> Original? {
        let said = ForwardedRequest(head)
        guard said.isForwarded || isAppended else { return nil }
        guard ForwardedFacts.isTrusted(connection.origin.peer, services) else {
            services.warnOfForwarding()
            throw Self.forbidden("Forwarded headers are taken only from server.trusted_proxies.", "untrusted_proxy")
        }
        if said.isDoubled { throw Self.forbidden("A forwarded header was sent twice.", "forwarded_twice") }
        guard said.uri != nil || isAppended else {
            if said.method == nil, said.host == nil { return nil }
            throw Self.forbidden("X-Forwarded-Uri or X-Original-URI is missing: which path is asked about?", "no_uri")
        }
        let (path, query, host) = try target(said)
        // A list of hosts, or what is none, must not be judged by the routes of no host.
        if let host, !HostRule.accepts(host) {
            throw Self.forbidden("The forwarded host is not one host name.", "forwarded_host")
        }
        // Envoy asks with the method of the original request, the others always with GET.
        return Original(
            method: said.method ?? (said.uri == nil ? ownMethod : nil), path: path, query: query,
            host: HostName.withoutPort((host ?? Array(request.host.utf8)).map(ASCII.lower)))
    }

    private var ownMethod: [UInt8] { head.withBytes(head.method) { Array($0) } }

    private static func forbidden(_ detail: String, _ reason: String) -> Problem {
        Problem(.invalidRequest, .forwarding, detail: detail, reason: reason)
    }

    /// Path, query and host of the original request: from a header field, else from the path appended to the
    /// endpoint's.
    private func target(
        _ said: ForwardedRequest
    ) throws(Problem) -> (path: [UInt8], query: [UInt8]?, host: [UInt8]?) {
        guard let uri = said.uri else { return (appended, request.query, said.host) }
        guard let parts = ForwardedURI(uri), let path = try? CanonicalPath(parts.path, allowEncodedSlash: true) else {
            throw Problem(.badMessage, reason: "forwarded_uri")
        }
        if let named = parts.host, let host = said.host, named.map(ASCII.lower) != host.map(ASCII.lower) {
            throw Self.forbidden("The forwarded headers name two hosts.", "forwarded_hosts")
        }
        let asked = Array(path.bytes.readableBytesView)
        // One of them was not made by the proxy in front, and it is unknown which.
        if isAppended, asked != appended || parts.query != request.query {
            throw Self.forbidden(
                "The forwarded header and the path behind /api/auth/verify name two requests.", "forwarded_paths")
        }
        return (asked, parts.query, said.host ?? parts.host)
    }

    // MARK: Judging

    private func judge(_ original: Original) throws(Problem) -> (any Exchange)? {
        let method = original.method ?? ownMethod
        let match = { path in services.routes.match(path: path, host: original.host, method: method) }
        if PathParameters.areAmbiguous(in: original.path, besides: services.ownPaths, match: match) {
            throw Problem(.badMessage, reason: "path_parameters")
        }
        if EscapedEscapes.areAmbiguous(in: original.path, besides: services.ownPaths, match: match) {
            throw Problem(.badMessage, reason: "escaped_escapes")
        }
        switch match(original.path) {
        case .none: throw Problem(.notFound, detail: "No route covers this path.", reason: "no_route")
        case .methodNotAllowed: throw Self.wrongMethod
        case .route(let route):
            guard route.takesMethod(method) else { throw Self.wrongMethod }
            if original.path.containsEncodedSlash, !route.configuration.encodedSlash {
                throw Problem(.badMessage, reason: "encoded_slash")
            }
            var stage = self
            stage.route = route
            do throws(Problem) {
                return try stage.judge(original, by: route)
            } catch {
                // In the name of this route: the refusal of a resource says where its metadata is.
                stage.refuse(error)
                return nil
            }
        }
    }

    private func judge(_ original: Original, by route: Route) throws(Problem) -> (any Exchange)? {
        // The handshake was with the proxy in front, so what its client has shown is not known here.
        guard !route.requiresCertificate else {
            throw Self.forbidden(
                "The route requires a client certificate, which only the gateway's own listener can judge.",
                "client_certificate")
        }
        // The gateway forwards nothing here, so the query of an open route need not be readable.
        if route.access.requirement == .none { return try judge(query: nil, method: original.method, way: .fields) }
        let offers = try Subprotocols.read(head)
        let opensSocket = route.configuration.webSocket ? try asksForSocket(offers, of: original) : false
        // An unknown method counts as unsafe.
        return try judge(
            query: original.query, method: original.method ?? [], way: opensSocket ? .handshake : .fields)
    }

    /// Whether a proxy in front asks about a WebSocket, so that the carriers and rules for sockets apply. Not all proxies
    /// pass on the fields of the handshake, so credentials in the query tell, too, but only of a GET. A proxy that does
    /// not say the method asks with it.
    private func asksForSocket(_ offers: Subprotocols, of original: Original) throws(Problem) -> Bool {
        guard (original.method ?? ownMethod).elementsEqual("GET".utf8) else { return false }
        if head.present.contains(.secWebSocketKey) || offers.carriesCredentials { return true }
        return try CredentialQuery.isPresent(in: original.query)
    }

    private func judge(
        query: [UInt8]?, method: [UInt8]?, way: GateRequest.Way
    ) throws(Problem) -> (any Exchange)? {
        let asked = GateRequest(
            head: head, query: query, way: way, cookies: way == .fields ? request.cookieMode : .none, method: method,
            receivedAt: request.receivedAt)
        return try dispatcher.admit(asked, route.access, for: self)
    }

    private static var wrongMethod: Problem {
        Problem(.methodNotAllowed, detail: "The route does not take this method.", reason: "method")
    }

    // MARK: The answer

    /// Answers 200 with the identity fields of the route, for the proxy to copy. Counts the request towards the limit
    /// of its route.
    func proceed(_ admission: Admission) throws(Problem) -> (any Exchange)? {
        connection.record.admission = admission
        try connection.countTowardsLimit(of: route, admission, request, services)
        let identity = try identity(of: admission, at: route, now: loop.now())
        connection.respond(status: 200, fields: [("Cache-Control", "no-store")], identity: identity, body: [])
        return nil
    }

    /// A problem that is 4xx elsewhere usually becomes 401 or 403, as ``Problem/asDecision`` says.
    func refuse(_ problem: Problem) {
        let refusal = problem.asDecision
        connection.respond(route.resourceChallenge?.applied(to: refusal) ?? refusal)
    }

    /// The stand-in for a route where only the credentials are judged.
    private static let bare: Route = {
        var configuration = RouteConfiguration(path: "/api/auth/verify")
        configuration.require = .token
        configuration.audience = "gatehouse-verify"
        return Route(configuration, index: -2)
    }()
}

extension [UInt8] {
    /// Whether a canonical path contains `%2F`.
    var containsEncodedSlash: Bool {
        guard count >= 3 else { return false }
        for index in indices.dropLast(2) where self[index] == UInt8(ascii: "%") {
            if self[index + 1] == UInt8(ascii: "2"), self[index + 2] == UInt8(ascii: "F") { return true }
        }
        return false
    }
}
