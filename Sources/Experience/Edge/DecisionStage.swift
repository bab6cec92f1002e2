import HTTPWire
import NIOCore

/// `/api/auth/verify`: answers for a proxy in front whether a request may pass, by the same gate and on the same path
/// as proxied traffic.
///
/// Nginx `auth_request`, Traefik and Caddy `forward_auth`, HAProxy and Envoy's HTTP `ext_authz` all ask it. Whatever is
/// unclear is refused; what is 400 elsewhere is 401 here, since these proxies know only 2xx, 401 and 403.
struct DecisionStage {
    let dispatcher: Dispatcher
    let request: EdgeRequest
    /// The path behind `/api/auth/verify`, as Envoy sends it.
    let appended: [UInt8]

    private var connection: EdgeConnection { dispatcher.connection }
    private var services: EdgeServices { dispatcher.services }
    private var loop: LoopState { dispatcher.loop }
    private var head: RequestHead { request.head }

    /// The request that is asked about.
    private struct Original {
        var method: [UInt8]
        var path: [UInt8]
        var query: [UInt8]?
        var host: [UInt8]
    }

    func start() -> (any Exchange)? {
        switch original() {
        case .failure(let problem): return refuse(problem)
        case .success(nil): return judge(.token, scopes: [], route: nil)
        case .success(let original?): return judge(original)
        }
    }

    // MARK: What is asked about

    /// nil when no forwarded field speaks of another request: then the credentials alone are judged.
    private func original() -> Result<Original?, Problem> {
        var method: [UInt8]?
        var uri: [UInt8]?
        var host: [UInt8]?
        var isDoubled = false
        var isForwarded = !appended.isEmpty && appended != [UInt8(ascii: "/")]
        func take(_ field: HeaderField, _ slot: inout [UInt8]?) {
            isForwarded = true
            if slot != nil { isDoubled = true }
            slot = head.withBytes(field.value) { Array($0) }
        }
        for field in head.fields where field.id == .xForwarded || field.id == .xIdentity {
            if head.equals(field.name, "x-forwarded-method") || head.equals(field.name, "x-original-method") {
                take(field, &method)
            } else if head.equals(field.name, "x-forwarded-uri") || head.equals(field.name, "x-original-uri")
                || head.equals(field.name, "x-original-url")
            {
                take(field, &uri)
            } else if head.equals(field.name, "x-forwarded-host") {
                take(field, &host)
            }
        }
        guard isForwarded else { return .success(nil) }
        guard ForwardedFacts.isTrusted(connection.origin.peer, services) else {
            services.warnOfForwarding()
            return .failure(Problem(
                    .invalidRequest, status: 403,
                    detail: "Forwarded headers are taken only from server.trusted_proxies.", reason: "untrusted_proxy"))
        }
        guard !isDoubled else {
            return .failure(Problem(
                    .invalidRequest, status: 403, detail: "A forwarded header was sent twice.",
                    reason: "forwarded_twice"))
        }
        return target(uri).map { path, query in
            Original(
                method: method ?? head.withBytes(head.method) { Array($0) }, path: path, query: query,
                host: Dispatcher.withoutPort(lowercase(host ?? Array(request.host.utf8))))
        }
    }

    private func lowercase(_ bytes: [UInt8]) -> [UInt8] { bytes.map(ASCII.lower) }

    /// Path and query of the original request: from its header, else what was appended to ours.
    private func target(_ uri: [UInt8]?) -> Result<([UInt8], [UInt8]?), Problem> {
        guard let uri else {
            let path = appended.isEmpty ? [UInt8(ascii: "/")] : appended
            return .success((path, appended.isEmpty ? nil : request.query))
        }
        let mark = uri.firstIndex(of: UInt8(ascii: "?"))
        let path = Array(uri[..<(mark ?? uri.endIndex)])
        let query = mark.map { Array(uri[uri.index(after: $0)...]) }
        guard path.first == UInt8(ascii: "/"), !uri.contains(UInt8(ascii: "#")),
            uri.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
            let canonical = try? CanonicalPath(ByteBuffer(bytes: path), allowEncodedSlash: true)
        else { return .failure(Problem(.badMessage, reason: "forwarded_uri")) }
        return .success((Array(canonical.bytes.readableBytesView), query))
    }

    // MARK: Judging

    private func judge(_ original: Original) -> (any Exchange)? {
        switch services.routes.match(path: original.path, host: original.host, method: original.method) {
        case .none:
            return refuse(Problem(.notFound, status: 403, detail: "No route covers this path.", reason: "no_route"))
        case .methodNotAllowed:
            return refuse(
                Problem(.methodNotAllowed, status: 403, detail: "The route does not take this method.", reason: "method"))
        case .route(let route):
            if original.path.containsEncodedSlash, !route.configuration.encodedSlash {
                return refuse(Problem(.badMessage, reason: "encoded_slash"))
            }
            if route.configuration.require != .none, let query = original.query {
                let asked = EdgeRequest(
                    head: head, path: original.path, query: query, id: request.id,
                    clientAddress: request.clientAddress, isSecure: request.isSecure, cookieMode: request.cookieMode,
                    host: request.host, forwardedFor: request.forwardedFor, loop: loop)
                if let problem = RequestForm.tokenInQuery(asked) { return refuse(problem) }
            }
            return judge(route.configuration.require, scopes: route.configuration.scopes, route: route)
        }
    }

    private func judge(
        _ requirement: RouteConfiguration.Requirement, scopes: [String], route: Route?
    ) -> (any Exchange)? {
        switch PresentedCredentials.read(head, cookies: request.cookieMode) {
        case .failure(let problem): return refuse(problem)
        case .success(let credentials):
            switch Gate(services: services, loop: loop).judge(requirement, scopes: scopes, credentials) {
            case .refused(let problem): return refuse(problem)
            case .admitted(let admitted): return allow(admitted, route)
            case .later(let future):
                let deferred = DeferredExchange(writer: connection)
                let bound = NIOLoopBound((self, deferred), eventLoop: connection.eventLoop)
                future.whenComplete { result in
                    let (stage, deferred) = bound.value
                    guard !deferred.isGone else { return }
                    switch result {
                    case .success(.success(let admitted)): deferred.resolve(stage.allow(admitted, route))
                    case .success(.failure(let problem)): deferred.resolve(stage.refuse(problem))
                    case .failure: deferred.resolve(stage.refuse(Problem(.storeUnavailable)))
                    }
                }
                return deferred
            }
        }
    }

    private func allow(_ admitted: Admitted, _ route: Route?) -> (any Exchange)? {
        let identity: ForwardedIdentity
        do {
            identity = try IdentityMaker(loop: loop, services: services).identity(
                of: admitted, route: route ?? Self.bare, isRuntime: false)
        } catch {
            return refuse(Problem(.overloaded, reason: "assertion_failed"))
        }
        connection.respond(status: 200, fields: identity.fields() + [("Cache-Control", "no-store")], body: [])
        return nil
    }

    private func refuse(_ problem: Problem) -> (any Exchange)? {
        guard problem.status != 401, problem.status != 403, problem.status < 500 else { return dispatcher.refuse(problem) }
        var refusal = Problem(problem.code, status: 401, detail: problem.detail, reason: problem.reason)
        refusal.headers = problem.headers
        return dispatcher.refuse(refusal)
    }

    /// Credentials judged without any route.
    private static let bare: Route = {
        var configuration = RouteConfiguration(path: "/api/auth/verify")
        configuration.require = .token
        configuration.audience = "gatehouse-verify"
        return Route(configuration, index: -2)
    }()
}

extension [UInt8] {
    /// Whether a canonical path holds `%2F`.
    var containsEncodedSlash: Bool {
        guard count >= 3 else { return false }
        for index in indices.dropLast(2) where self[index] == UInt8(ascii: "%") {
            if self[index + 1] == UInt8(ascii: "2"), self[index + 2] == UInt8(ascii: "F") { return true }
        }
        return false
    }
}
