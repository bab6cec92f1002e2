import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore
import Proxy
import SecurityGuard
import Synchronization

/// A routed request, from its own checks through the gate to the proxy.
package struct RouteStage {
    let dispatcher: Dispatcher
    package let request: EdgeRequest
    package let route: Route
    /// The external Runtime's pool, when this is a request to it.
    package var runtimePool: UpstreamPool?

    private var connection: EdgeConnection { dispatcher.connection }
    private var services: EdgeServices { dispatcher.services }
    private var loop: LoopState { dispatcher.loop }
    private var head: RequestHead { request.head }
    private var terms: RouteConfiguration { route.configuration }

    package init(dispatcher: Dispatcher, request: EdgeRequest, route: Route, runtimePool: UpstreamPool? = nil) {
        self.dispatcher = dispatcher
        self.request = request
        self.route = route
        self.runtimePool = runtimePool
    }

    package func start() -> (any Exchange)? {
        guard let pool = runtimePool ?? loop.upstreams.pool(for: route), !pool.isEmpty else {
            // A route without an upstream is there for the decision endpoint only.
            return dispatcher.refuse(Problem(.notFound))
        }
        if head.present.contains(.origin) {
            let cors = CORS(services.origins, head, isPublic: false)
            if route.ownsCORS { connection.answerFields = cors.fields() }
            if cors.isPreflight {
                // Browsers send preflights without credentials; an upstream may have asked to answer them itself.
                return route.ownsCORS ? dispatcher.answerPreflight(cors, echoesHeaders: true) : proxy(.anyone, pool)
            }
        }
        if head.upgradeOffered, terms.webSocket, isWebSocketOffer {
            return SocketStage(dispatcher: dispatcher, request: request).relay(route, pool: pool)
        }
        if let problem = bodyProblem() { return dispatcher.refuse(problem) }
        if route.requirement == .none {
            if let problem = RequestForm.faultOfQuery(request) { return dispatcher.refuse(problem) }
            return proxy(.anyone, pool)
        }
        if request.query == nil,
            let admitted = gate.admitKnown(
                route.requirement, scopes: route.scopes, head, now: request.receivedAt)
        {
            return proxy(admitted, pool)
        }
        switch credentials() {
        case .failure(let problem): return refuse(problem)
        case .success(let credentials): return judge(credentials, pool)
        }
    }

    private var isWebSocketOffer: Bool {
        head.first(.upgrade).map { head.equals($0.value, "websocket") } ?? false
    }

    /// A body that says beforehand that it is too large.
    private func bodyProblem() -> Problem? {
        guard let limit = maxBody, case .length(let count) = head.framing, count > limit else { return nil }
        return Problem(.payloadTooLarge)
    }

    private var maxBody: Int64? { (terms.maxBody ?? services.configuration.server.maxBody).map(Int64.init) }

    private func credentials() -> Result<PresentedCredentials, Problem> {
        if let problem = RequestForm.tokenInQuery(request) { return .failure(problem) }
        return PresentedCredentials.read(head, cookies: request.cookieMode).flatMap { credentials in
            let problem = CORS(services.origins, head, isPublic: false).judge(credentials, for: terms.require)
            return problem.map { .failure($0) } ?? .success(credentials)
        }
    }

    private var gate: Gate { Gate(loop.gate) }

    private func judge(_ credentials: PresentedCredentials, _ pool: UpstreamPool) -> (any Exchange)? {
        switch gate.judge(route.requirement, scopes: route.scopes, credentials) {
        case .refused(let problem): return refuse(problem)
        case .admitted(let admitted): return proxy(admitted, pool)
        case .later(let future):
            let deferred = DeferredExchange(writer: connection)
            let bound = NIOLoopBound((self, deferred, pool), eventLoop: connection.eventLoop)
            future.whenComplete { result in
                let (stage, deferred, pool) = bound.value
                guard !deferred.isGone else { return }
                switch result {
                case .success(.success(let admitted)): deferred.resolve(stage.proxy(admitted, pool))
                case .success(.failure(let problem)): deferred.resolve(stage.refuse(problem))
                case .failure: deferred.resolve(stage.refuse(Problem(.storeUnavailable)))
                }
            }
            return deferred
        }
    }

    /// A refused page view is sent to log in; everything else gets its problem.
    private func refuse(_ problem: Problem) -> (any Exchange)? {
        if let url = terms.loginURL, problem.status == 401 || problem.code == .sessionMismatch, isNavigation {
            let target = RequestForm.withReturn(url, to: request)
            services.observe(problem, requestID: request.id)
            connection.respond(
                status: 303, fields: [("Location", target), ("Cache-Control", "no-store")], body: [])
            return nil
        }
        return dispatcher.refuse(problem)
    }

    private var isNavigation: Bool {
        guard head.knownMethod == .get || head.knownMethod == .head, !head.upgradeOffered else { return false }
        if let mode = head.first(.secFetchMode) { return head.equals(mode.value, "navigate") }
        return head.first(.accept).map { head.string($0.value).lowercased().contains("text/html") } ?? false
    }

    private func proxy(_ admitted: Admitted, _ pool: UpstreamPool) -> (any Exchange)? {
        let identity: ByteBuffer
        do {
            identity = try loop.identityMaker.identity(
                of: admitted, route: route.index, audience: route.configuration.assertionAudience,
                isRuntime: runtimePool != nil, now: request.receivedAt)
        } catch {
            return dispatcher.refuse(Problem(.overloaded, reason: "assertion_failed"))
        }
        let forwarded = ForwardedHead(
            request: request, path: route.upstreamPath(of: request.path),
            query: RequestForm.queryWithoutCredentials(request), identity: identity,
            options: ForwardedHead.Options(route, pool: pool))
        services.metrics.proxied.add(1, ordering: .relaxed)
        let configuration = services.configuration
        return ProxyExchange(
            writer: connection, pool: pool, leases: loop.leases, log: services.upstreamLog, request: head,
            terms: ProxyExchange.Terms(
                head: forwarded.plain(), timeout: route.timeout, maxBody: maxBody, ownsCORS: route.ownsCORS,
                admitted: admitted, isLeased: terms.lease,
                leaseBounds: LeaseBounds(
                    clockSkew: configuration.tokens.clockSkew, maxLifetime: configuration.webSocket.maxLifetime),
                receivedAt: request.receivedAt))
    }
}

/// Small questions about the form of a request that several stages ask.
package enum RequestForm {
    /// A token in a URL ends up in logs: refused anywhere but on a WebSocket upgrade (RFC 9700 section 4.3.2).
    static func tokenInQuery(_ request: EdgeRequest) -> Problem? {
        guard let query = request.query else { return nil }
        do {
            guard try RequestQuery(ByteBuffer(bytes: query)).contains(anyOf: ["access_token"]) else { return nil }
            return Problem(
                .invalidRequest, detail: "Send the access token in Authorization, not in the URL.",
                reason: "token_in_query")
        } catch {
            return Problem(.invalidRequest, detail: "The query can't be read.", reason: "query")
        }
    }

    /// Why the query can't be searched for credentials, if it can't: then nothing of it is forwarded either.
    static func faultOfQuery(_ request: EdgeRequest) -> Problem? {
        guard let query = request.query else { return nil }
        do {
            _ = try RequestQuery(ByteBuffer(bytes: query)).contains(anyOf: UpgradeGate.credentialNames)
            return nil
        } catch {
            return Problem(.invalidRequest, detail: "The query can't be read.", reason: "query")
        }
    }

    /// The query as it may be shown to others. One that can't be read is left out whole.
    static func queryWithoutCredentials(_ request: EdgeRequest) -> [UInt8]? {
        guard let query = request.query else { return nil }
        do {
            let rest = try RequestQuery(ByteBuffer(bytes: query)).removing(UpgradeGate.credentialNames)
            return rest.map { Array($0.readableBytesView) }
        } catch {
            return nil
        }
    }

    /// `login_url` with `return_to`: the path and query that were asked for, always on the same origin.
    static func withReturn(_ loginURL: String, to request: EdgeRequest) -> String {
        var path = String(decoding: request.path, as: UTF8.self)
        if let query = queryWithoutCredentials(request) { path += "?" + String(decoding: query, as: UTF8.self) }
        let encoded = ForwardedIdentity.queryValue(path)
        return loginURL + (loginURL.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + "return_to=" + encoded
    }
}
