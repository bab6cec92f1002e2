import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore
import Proxy
import Runtime
import SecurityGuard
import Synchronization
import Web

/// Gives each request to whoever answers it: read this to see the stages in order.
///
/// 1. the host is ours, the method is known, the path has one canonical form;
/// 2. CORS and cross-site rules;
/// 3. the gateway's own paths, else the longest route;
/// 4. the gate: identify, admit;
/// 5. the API, a socket, or the proxy.
package struct Dispatcher {
    package let connection: EdgeConnection
    package var services: EdgeServices { connection.services }
    package var loop: LoopState { connection.loop }

    /// Starts answering. Returns who wants the body, or nil when the answer has been given.
    package func exchange(for head: RequestHead) -> (any Exchange)? {
        services.metrics.requests.add(1, ordering: .relaxed)
        if head.upgradeOffered || head.knownMethod == .trace { connection.closeAfterAnswer() }
        let request: EdgeRequest
        do {
            request = try prepare(head)
        } catch {
            connection.closeAfterAnswer()
            // The decision endpoint answers to proxies, and no script reads that.
            return DecisionStage.isAsked(head) ? refuse(DecisionStage.refusal(error)) : refuse(error, to: head)
        }
        if let own = OwnPath(request.path) { return exchange(own, request) }
        if let asset = asset(request) { return asset }
        switch services.routes.match(path: request.path, host: request.host, head: head) {
        case .route(let route):
            guard route.takesMethod(of: head) else { return refuseMethod(of: head, allowed: route.allowedMethods) }
            return RouteStage(dispatcher: self, request: request, route: route).start()
        case .methodNotAllowed(let methods): return refuse(methodNotAllowed(methods), to: head)
        case .none: return refuse(Problem(.notFound), to: head)
        }
    }

    /// Refuses a method that nothing here forwards; what follows it on the connection is not read.
    private func refuseMethod(of head: RequestHead, allowed: [String]) -> (any Exchange)? {
        connection.closeAfterAnswer()
        return refuse(methodNotAllowed(allowed), to: head)
    }

    /// Refuses what nobody here answers, or can; scripts of allowed origins may read that, too.
    private func refuse(_ problem: Problem, to head: RequestHead) -> (any Exchange)? {
        connection.answerFields = CORS(services.origins, head, isPublic: false).fields()
        return refuse(problem)
    }

    func refuse(_ problem: Problem) -> (any Exchange)? {
        connection.respond(problem)
        return nil
    }

    func methodNotAllowed(_ methods: [String]) -> Problem {
        Problem(.methodNotAllowed, headers: [("Allow", methods.joined(separator: ", "))])
    }

    // MARK: 1. Form

    private func prepare(_ head: RequestHead) throws(Problem) -> EdgeRequest {
        // These two ask for no resource: nothing is tunnelled, and `OPTIONS *` has nothing to say of the whole.
        if head.knownMethod == .connect || head.targetForm == .asterisk {
            throw methodNotAllowed(MethodRegistry.usual.filter { $0 != "OPTIONS" })
        }
        let host = head.host.map { head.string($0) } ?? ""
        if !services.hosts.isEmpty, !services.hosts.contains(HostName.withoutPort(Array(host.lowercased().utf8))) {
            throw Problem(.invalidRequest, status: 421, detail: "This gateway does not answer for that host.")
        }
        let path = try canonicalPath(head)
        let facts = try ForwardedFacts.read(
            head, origin: connection.origin, services: services,
            readsForwarded: head.present.contains(.forwarded) && !Self.asksForDecision(path))
        let cookieMode: CookieMode =
            facts.isSecure ? .secure : facts.isLoopback ? .loopback : .none
        if cookieMode == .none, head.present.contains(.secFetchSite) { services.warnOfMissingCookies() }
        return EdgeRequest(
            head: head, path: path, query: head.query.map { range in head.withBytes(range) { Array($0) } },
            requestID: connection.requestID, clientAddress: facts.clientAddress, isSecure: facts.isSecure,
            cookieMode: cookieMode, host: host, forwardedHost: facts.host ?? host, forwardedFor: facts.forwardedFor,
            traces: loop.traces, receivedAt: loop.now())
    }

    /// Whether it is the decision endpoint that is asked. That knows the `X-` fields alone: what it judges must not hang
    /// on one more field, which many proxies in front pass on as the client sent it.
    private static func asksForDecision(_ path: [UInt8]) -> Bool {
        guard case .verify = OwnPath(path) else { return false }
        return true
    }

    /// One form for matching, authorisation and forwarding. `%2F` passes only on a route that asks for it.
    private func canonicalPath(_ head: RequestHead) throws(Problem) -> [UInt8] {
        do {
            let path = try CanonicalPath(head, allowEncodedSlash: true)
            let bytes = Array(path.bytes.readableBytesView)
            guard path.hasEncodedSlash || path.hasParameters else { return bytes }
            let own = OwnPath(bytes)
            // What was appended to the decision endpoint is judged there.
            if case .verify = own { return bytes }
            let host = head.host.map { head.string($0) } ?? ""
            if path.hasEncodedSlash {
                guard own == nil, case .route(let route) = services.routes.match(path: bytes, host: host, head: head),
                    route.configuration.encodedSlash
                else { throw Problem(.badMessage, detail: "An encoded slash is not allowed in this path.") }
            }
            if path.hasParameters, own == nil {
                let isAmbiguous = PathParameters.areAmbiguous(in: bytes) {
                    services.routes.match(path: $0, host: host, head: head)
                }
                if isAmbiguous {
                    throw Problem(.badMessage, detail: "With and without its ';' parameters the path means two things.")
                }
            }
            return bytes
        } catch let error as WireError {
            throw Problem(wire: error)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.badMessage)
        }
    }

    // MARK: 3. Own paths

    private func exchange(_ own: OwnPath, _ request: EdgeRequest) -> (any Exchange)? {
        switch own {
        case .api(let path): return api(path, request)
        case .verify(let appended): return DecisionStage(dispatcher: self, request: request, appended: appended).start()
        case .agent where isNoSocketRequest(request.head), .echo where isNoSocketRequest(request.head):
            connection.closeAfterAnswer()
            return refuse(methodNotAllowed(["GET"]), to: request.head)
        case .agent: return SocketStage(dispatcher: self, request: request).agent()
        case .echo: return SocketStage(dispatcher: self, request: request).echo()
        case .runtime: return runtime(request)
        }
    }

    /// Whether a socket's path is asked for with another method, and not for a socket: that is no handshake to be judged.
    private func isNoSocketRequest(_ head: RequestHead) -> Bool { head.knownMethod != .get && !head.upgradeOffered }

    private func api(_ path: String, _ request: EdgeRequest) -> (any Exchange)? {
        let isPublic = path.hasPrefix("/.well-known/")
        let cors = CORS(services.origins, request.head, isPublic: isPublic)
        connection.answerFields = cors.fields()
        if cors.isPreflight { return answerPreflight(cors) }
        return APIStage(dispatcher: self, request: request, path: path).start(cors)
    }

    /// - Parameter echoesHeaders: whether any field may be sent, since only the upstream knows which it takes.
    func answerPreflight(_ cors: CORS, echoesHeaders: Bool = false) -> (any Exchange)? {
        connection.respond(status: 204, fields: cors.preflightFields(echoesHeaders: echoesHeaders), body: [])
        return nil
    }

    /// `/api/runtime/*`: only an external Runtime has anything there.
    private func runtime(_ request: EdgeRequest) -> (any Exchange)? {
        guard let pool = loop.upstreams.runtime else { return refuse(Problem(.notFound), to: request.head) }
        guard RuntimeTarget.route.takesMethod(of: request.head) else {
            return refuseMethod(of: request.head, allowed: RuntimeTarget.route.allowedMethods)
        }
        return RouteStage(dispatcher: self, request: request, route: RuntimeTarget.route, runtimePool: pool).start()
    }

    /// The page and its files.
    private func asset(_ request: EdgeRequest) -> (any Exchange)?? {
        guard let asset = services.assets[request.path] else { return nil }
        guard request.head.knownMethod == .get || request.head.knownMethod == .head else {
            return .some(refuse(methodNotAllowed(["GET", "HEAD"]), to: request.head))
        }
        var fields = WebAssets.headers
        fields.append(("ETag", asset.etag))
        if let field = request.head.first(.ifNoneMatch), asset.matches(ifNoneMatch: request.head.string(field.value)) {
            connection.respond(status: 304, fields: fields, body: [])
        } else {
            fields.append(("Content-Type", asset.contentType))
            connection.respond(status: 200, fields: fields, body: asset.bytes)
        }
        return .some(nil)
    }
}
