import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import Metrics
import NIOCore
import Proxy
import Web

/// Finds out what answers each request. Read this file to follow a request: its sections are the stages, in order.
///
/// 1. **Form**: the host is allowed, the path has one canonical form, the proxies in front do not contradict
/// themselves.
/// 2. **Target**: the gateway's own paths, else the page, else the longest route.
/// 3. **Cross-site**: CORS fields and preflights; unsafe requests of foreign pages to the API.
/// 4. **The gate**: carriers, credentials, rights, session; see ``Gate/judge(_:_:)``. The API's endpoints judge theirs.
/// 5. **Answer**: the API, the decision endpoint, a socket, the proxy, the page.
///
/// A stage refuses a request by throwing a ``Problem``, which the target's own stage turns into an answer. One value
/// for each request, on the connection's event loop.
package struct Dispatcher {
    /// The connection that the request came on.
    package let connection: EdgeConnection
    /// What the configuration said when the request began.
    package let snapshot: EdgeSnapshot
    /// What every connection shares.
    package var services: EdgeServices { snapshot.services }
    /// The state of the connection's event loop.
    package var loop: LoopState { connection.loop }

    /// Takes the snapshot that the connection has for this request.
    init(connection: EdgeConnection) {
        self.connection = connection
        snapshot = connection.snapshot
    }

    /// Starts answering. A refusal that needs neither the store nor the body is written before it returns.
    ///
    /// - Returns: the exchange that takes the body, or nil when the answer has been given.
    package func exchange(for head: RequestHead) -> (any Exchange)? {
        if head.upgradeOffered || head.knownMethod == .trace { connection.closeAfterAnswer() }
        let request: EdgeRequest
        do {
            request = try prepare(head)
        } catch {
            connection.record.refused(head)
            connection.closeAfterAnswer()
            // The decision endpoint answers proxies, so the answer needs no CORS fields.
            return DecisionStage.isAsked(head) ? refuse(error.asDecision) : refuse(error, to: head)
        }
        connection.record.request = request
        let target: Target
        do {
            target = try find(request)
        } catch {
            return refuse(error, to: head)
        }
        connection.record.route = target.label
        let cors = crossSiteRules(of: target, head)
        if let preflight = cors?.preflight { return answer(preflight, request, target, cors) }
        return answer(request, target, cors)
    }

    /// Refuses a request that has no target. Scripts of allowed origins may read this answer, too.
    private func refuse(_ problem: Problem, to head: RequestHead) -> (any Exchange)? {
        connection.answerFields = CORS(services.origins, head, isPublic: false).fields(connection.answerForm)
        return refuse(problem)
    }

    private func refuse(_ problem: Problem) -> (any Exchange)? {
        connection.respond(problem)
        return nil
    }

    private func methodNotAllowed(_ methods: [String]) -> Problem {
        Problem(.methodNotAllowed, headers: [("Allow", methods.joined(separator: ", "))])
    }

    // MARK: 1. Form

    private func prepare(_ head: RequestHead) throws(Problem) -> EdgeRequest {
        // These two ask for no resource: the gateway is no tunnel, and has no answer to `OPTIONS *`.
        if head.knownMethod == .connect || head.targetForm == .asterisk {
            throw methodNotAllowed(MethodRegistry.usual.filter { $0 != "OPTIONS" })
        }
        let host = head.host.map { head.string($0) } ?? ""
        if !services.hosts.isEmpty, !services.hosts.contains(HostName.withoutPort(Array(host.lowercased().utf8))) {
            throw Problem(
                .invalidRequest, .foreignHost, detail: "This gateway does not answer for that host.",
                reason: "foreign_host")
        }
        let path = try canonicalPath(head)
        let facts = try ForwardedFacts.read(
            head, origin: connection.origin, services: services,
            readsForwarded: head.present.contains(.forwarded) && !asksForDecision(path))
        let cookieMode: CookieMode =
            facts.isSecure ? .secure : facts.isLoopback ? .loopback : .none
        if cookieMode == .none, head.present.contains(.secFetchSite) { services.warnOfMissingCookies() }
        let trace = loop.traces.trace(of: head, services.sampling)
        return EdgeRequest(
            head: head, path: path, query: head.query.map { range in head.withBytes(range) { Array($0) } },
            requestID: connection.requestID, clientAddress: facts.clientAddress, isSecure: facts.isSecure,
            cookieMode: cookieMode, host: host, forwardedHost: facts.host ?? host, forwardedFor: facts.forwardedFor,
            trace: trace, receivedAt: connection.record.receivedAt)
    }

    /// Whether the request is for the decision endpoint. That only uses the `X-` fields: its decision must not depend
    /// on the field `Forwarded`, which many proxies in front pass on as the client sent it.
    private func asksForDecision(_ path: [UInt8]) -> Bool {
        guard case .verify = services.ownPaths.find(path) else { return false }
        return true
    }

    /// One form for matching, authorisation and forwarding. `%2F` passes only on a route that asks for it.
    private func canonicalPath(_ head: RequestHead) throws(Problem) -> [UInt8] {
        let path: CanonicalPath
        do {
            path = try CanonicalPath(head, allowEncodedSlash: true)
        } catch {
            throw Problem(wire: error)
        }
        let bytes = Array(path.bytes.readableBytesView)
        guard path.hasEncodedSlash || path.hasParameters else { return bytes }
        let own = services.ownPaths.find(bytes)
        // The path that is appended to the decision endpoint's is judged there.
        if case .verify = own { return bytes }
        let host = head.host.map { head.string($0) } ?? ""
        if path.hasEncodedSlash {
            guard own == nil, case .route(let route) = services.routes.match(path: bytes, host: host, head: head),
                route.configuration.encodedSlash
            else { throw Problem(.badMessage, detail: "An encoded slash is not allowed in this path.") }
        }
        if path.hasParameters, own == nil {
            let isAmbiguous = PathParameters.areAmbiguous(in: bytes, besides: services.ownPaths) {
                services.routes.match(path: $0, host: host, head: head)
            }
            if isAmbiguous {
                throw Problem(.badMessage, detail: "With and without its ';' parameters the path means two things.")
            }
        }
        return bytes
    }

    // MARK: 2. Target

    /// What the request asks for.
    private enum Target {
        /// One of the JSON or form endpoints, by its path.
        case api(String)
        /// The decision endpoint, with the path appended to it.
        case decision(appended: [UInt8])
        /// A WebSocket, of the gateway's own paths or of a route.
        case socket(SocketStage.Peer)
        /// A routed request, or one for the external Runtime.
        case proxy(Route, UpstreamPool, isRuntime: Bool)
        /// The embedded Runtime's tools.
        case tools(Route)
        /// A file of the gateway's own pages.
        case page(WebAsset)

        /// Whether any page may read it.
        var isPublic: Bool {
            if case .page(let asset) = self { asset.isPublic } else { false }
        }

        /// How the access log and the metrics name it.
        var label: RequestRecord.Target {
            switch self {
            case .api, .decision, .socket(.agent), .socket(.echo), .socket(.upstream(_, _, isRuntime: true)),
                .proxy(_, _, isRuntime: true):
                .api
            case .socket(.upstream(let route, _, _)), .proxy(let route, _, _), .tools(let route): .route(route)
            case .page: .page
            }
        }
    }

    private func find(_ request: EdgeRequest) throws(Problem) -> Target {
        if let own = services.ownPaths.find(request.path) { return try find(own, request) }
        let head = request.head
        if let asset = services.assets[request.path],
            asset.isAlwaysServed || !services.routes.coverWhole(host: request.host)
        {
            guard head.knownMethod == .get || head.knownMethod == .head || CORS.isPreflight(head) else {
                throw methodNotAllowed(["GET", "HEAD"])
            }
            return .page(asset)
        }
        switch services.routes.match(path: request.path, host: request.host, head: head) {
        case .route(let route):
            if route.configuration.servesRuntime { return .tools(route) }
            try requireMethod(of: head, takenBy: route)
            // A route without an upstream only serves the decision endpoint.
            guard let pool = snapshot.upstreams.pool(for: route), !pool.isEmpty else { throw Problem(.notFound) }
            if route.configuration.webSocket, asksForWebSocket(head) {
                return .socket(.upstream(route, pool, isRuntime: false))
            }
            return .proxy(route, pool, isRuntime: false)
        case .methodNotAllowed(let methods): throw methodNotAllowed(methods)
        case .none: throw Problem(.notFound)
        }
    }

    private func find(_ own: OwnPath, _ request: EdgeRequest) throws(Problem) -> Target {
        switch own {
        case .api(let path): return .api(path)
        case .verify(let appended): return .decision(appended: appended)
        case .agent, .echo:
            // With another method, and without an upgrade, it is not a handshake.
            if request.head.knownMethod != .get, !request.head.upgradeOffered, !CORS.isPreflight(request.head) {
                connection.closeAfterAnswer()
                throw methodNotAllowed(["GET"])
            }
            guard case .agent = own else { return .socket(.echo) }
            guard let pool = snapshot.upstreams.runtime else { return .socket(.agent) }
            return .socket(.upstream(RuntimeTarget.route, pool, isRuntime: true))
        case .runtime:
            // `/api/runtime/…`: only an external Runtime has other paths there.
            guard let pool = snapshot.upstreams.runtime else { throw Problem(.notFound) }
            try requireMethod(of: request.head, takenBy: RuntimeTarget.route)
            return .proxy(RuntimeTarget.route, pool, isRuntime: true)
        }
    }

    /// Refuses a method that is not forwarded. The connection is closed after the answer, without reading more.
    private func requireMethod(of head: RequestHead, takenBy route: Route) throws(Problem) {
        guard !route.takesMethod(of: head) else { return }
        connection.closeAfterAnswer()
        throw methodNotAllowed(route.allowedMethods)
    }

    /// Whether the request asks for a WebSocket. A preflight does not, even with the fields of a handshake.
    private func asksForWebSocket(_ head: RequestHead) -> Bool {
        guard head.upgradeOffered, !CORS.isPreflight(head), let upgrade = head.first(.upgrade) else { return false }
        return head.equals(upgrade.value, "websocket")
    }

    // MARK: 3. Cross-site

    private func sharing(of path: String) -> EndpointSharing {
        EndpointSharing(path, hasResources: services.hasResources)
    }

    /// The cross-site rules for the target, which also give the fields for every answer to the request; nil where none
    /// apply.
    private func crossSiteRules(of target: Target, _ head: RequestHead) -> CORS? {
        switch target {
        case .api(let path):
            let cors = CORS(services.origins, head, isPublic: sharing(of: path) == .everyone)
            connection.answerFields = cors.fields(connection.answerForm)
            return cors
        case .proxy(let route, _, _):
            guard head.present.contains(.origin) else { return nil }
            let cors = CORS(services.origins, head, isPublic: false)
            if route.ownsCORS { connection.answerFields = cors.fields(connection.answerForm) }
            return cors
        case .socket, .tools, .page:
            let cors = CORS(services.origins, head, isPublic: target.isPublic)
            connection.answerFields = cors.fields(connection.answerForm)
            return cors
        // Only proxies in front ask the decision endpoint. An `OPTIONS` there is theirs or asks about one, which has to
        // be judged.
        case .decision: return nil
        }
    }

    /// Answers a preflight, which browsers send without credentials. A route may leave that to its upstream.
    private func answer(
        _ preflight: Admission, _ request: EdgeRequest, _ target: Target, _ cors: CORS?
    ) -> (any Exchange)? {
        var echoesHeaders = false
        if case .proxy(let route, let pool, let isRuntime) = target {
            guard route.ownsCORS else {
                let stage = RouteStage(
                    dispatcher: self, request: request, route: route, pool: pool, isRuntime: isRuntime)
                return run(stage) { stage throws(Problem) in
                    try connection.requireCertificate(for: route, at: request.receivedAt)
                    return try stage.proceed(preflight)
                }
            }
            // Only the upstream knows which fields it accepts.
            echoesHeaders = true
        }
        connection.respond(status: 204, fields: cors?.preflightFields(echoesHeaders: echoesHeaders) ?? [], body: [])
        return nil
    }

    // MARK: 4. The gate

    /// Judges a request, and goes on with the stage at once or when the store has answered. Until then the body waits.
    ///
    /// - Parameter request: what the gate looks at.
    /// - Parameter terms: what the route or the endpoint asks for.
    /// - Returns: what ``GatedStage/proceed(_:)`` returns, or an exchange that holds the body while the store is asked.
    /// - Throws: the refusal, where it is known without the store. A later one goes to the stage's
    ///   ``RequestStage/refuse(_:)``.
    func admit(
        _ request: GateRequest, _ terms: AccessTerms, for stage: some GatedStage
    ) throws(Problem) -> (any Exchange)? {
        let question: StoreQuestion
        switch try Gate(snapshot.gate).judge(request, terms) {
        case .admitted(let admission): return try stage.proceed(admission)
        case .askStore(let asked): question = asked
        }
        let deferred = DeferredExchange(writer: connection)
        let (gate, opensSocket) = (Gate(snapshot.gate), request.opensSocket)
        loop.questions.ask(question) { answer in
            guard !deferred.isGone else { return }
            if case .success(let admission) = answer { gate.remember(admission, answering: question) }
            deferred.resolve(
                run(stage) { stage throws(Problem) in
                    try stage.proceed(gate.confirm(answer.get(), opensSocket: opensSocket))
                })
        }
        return deferred
    }

    // MARK: 5. Answer

    private func answer(_ request: EdgeRequest, _ target: Target, _ cors: CORS?) -> (any Exchange)? {
        switch target {
        case .api(let path):
            return run(APIStage(dispatcher: self, request: request, path: path)) { stage throws(Problem) in
                // With a cookie or without: an unsafe request of a foreign page is refused here.
                switch sharing(of: path) {
                case .everyone: break
                case .ownForm: if request.head.knownMethod == .post { try services.origins.requireOwn(request.head) }
                case .allowedOrigins: try cors?.requireAllowed()
                }
                return try stage.start()
            }
        case .decision(let appended):
            return run(DecisionStage(dispatcher: self, request: request, appended: appended)) {
                stage throws(Problem) in try stage.start()
            }
        case .socket(let peer):
            return run(SocketStage(dispatcher: self, request: request, peer: peer)) { stage throws(Problem) in
                try stage.start()
            }
        case .proxy(let route, let pool, let isRuntime):
            let stage = RouteStage(dispatcher: self, request: request, route: route, pool: pool, isRuntime: isRuntime)
            return run(stage) { stage throws(Problem) in try stage.start() }
        case .tools(let route):
            let stage = ToolStage(dispatcher: self, request: request, route: route)
            return run(stage) { stage throws(Problem) in try stage.start() }
        case .page(let asset):
            answer(request, with: asset)
            return nil
        }
    }

    /// Runs a step of a stage. A refusal is answered in the stage's own form.
    private func run<Stage: RequestStage>(
        _ stage: Stage, _ step: (Stage) throws(Problem) -> (any Exchange)?
    ) -> (any Exchange)? {
        do {
            return try step(stage)
        } catch {
            stage.refuse(error)
            return nil
        }
    }

    private func answer(_ request: EdgeRequest, with asset: WebAsset) {
        var fields = asset.headers
        fields.append(("ETag", asset.etag))
        let head = request.head
        if let field = head.first(.ifNoneMatch), asset.matches(ifNoneMatch: head.string(field.value)) {
            return connection.respond(status: 304, fields: fields, body: [])
        }
        fields.append(("Content-Type", asset.contentType))
        connection.respond(status: 200, fields: fields, body: asset.bytes)
    }
}
