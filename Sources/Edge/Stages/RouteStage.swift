import Answers
import AuthorizationServer
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import Leases
import Metrics
import NIOCore
import Proxy
import SecurityGuard
import StateSurface

/// A routed request, from its own checks through the gate to the proxy.
struct RouteStage: GatedStage {
    let dispatcher: Dispatcher
    let request: EdgeRequest
    let route: Route
    let pool: UpstreamPool
    /// Whether the upstream is the external Runtime, which is told the session as well.
    let isRuntime: Bool

    /// Checks what the route asks of the connection and the body, then goes through the gate.
    func start() throws(Problem) -> (any Exchange)? {
        try connection.requireCertificate(for: route, at: request.receivedAt)
        // The announced length is already too large.
        if let maxBody, case .length(let count) = head.framing, count > maxBody { throw Problem(.payloadTooLarge) }
        let asked = GateRequest(
            head: head, query: request.query, way: .fields, cookies: request.cookieMode, receivedAt: request.receivedAt)
        return try dispatcher.admit(asked, route.access, for: self)
    }

    /// Counts the request towards its limit, and forwards it. For a resource, the protocol session is looked up first.
    func proceed(_ admission: Admission) throws(Problem) -> (any Exchange)? {
        connection.record.admission = admission
        try connection.countTowardsLimit(of: route, admission, request, services)
        guard let resource = route.access.resource, let principal = admission.principal else {
            return try forward(admission, Agents())
        }
        return try proceed(
            admission, principal, ResourceStage(loop: loop, services: services, resource: resource))
    }

    /// What is particular to a request of a resource.
    private struct Agents {
        var dropsSession = false
        var member: Int?
        var judge: ProtocolSessionJudge?
    }

    /// Goes on with a request of a resource once the protocol session that it names is known to be the caller's.
    private func proceed(
        _ admission: Admission, _ principal: Principal, _ stage: ResourceStage
    ) throws(Problem) -> (any Exchange)? {
        switch try stage.session(namedBy: head) {
        case .ignored: return try forward(admission, Agents(dropsSession: true))
        case .none:
            return try forward(admission, Agents(judge: ProtocolSessionJudge(stage: stage, principal: principal)))
        case .one(let id):
            let judge = ProtocolSessionJudge(
                stage: stage, principal: principal, own: id, isDelete: head.knownMethod == .delete)
            let asked = stage.record(id, of: principal)
            if let upstream = stage.remembered(asked) {
                return try forward(admission, Agents(member: try member(at: upstream), judge: judge))
            }
            return ask(for: asked, then: admission, judge)
        }
    }

    /// The upstream that has opened a session. The session is unknown where that upstream is no longer configured.
    private func member(at upstream: String) throws(Problem) -> Int {
        guard let member = pool.member(at: upstream) else { throw ResourceStage.unknown }
        return member
    }

    private func ask(
        for asked: ProtocolSessionRecord, then admission: Admission, _ judge: ProtocolSessionJudge
    ) -> (any Exchange)? {
        let deferred = DeferredExchange(writer: connection)
        let sessions = services.protocolSessions
        let bound = NIOLoopBound((self, deferred, judge), eventLoop: connection.eventLoop)
        let endings = loop.protocolSessions.endings
        let answer = connection.eventLoop.makeFutureWithTask { () -> Result<ProtocolSessionRecord, Problem> in
            do throws(Problem) {
                return .success(try await ResourceStage.find(for: asked, sessions))
            } catch {
                return .failure(error)
            }
        }
        answer.assumeIsolated().whenSuccess { result in
            let (stage, deferred, judge) = bound.value
            guard !deferred.isGone else { return }
            do throws(Problem) {
                let known = try result.get()
                stage.loop.protocolSessions.keep(known, asked: endings, now: stage.loop.now())
                deferred.resolve(
                    try stage.forward(admission, Agents(member: try stage.member(at: known.upstream), judge: judge)))
            } catch {
                stage.refuse(error)
                deferred.resolve(nil)
            }
        }
        return deferred
    }

    private func forward(_ admission: Admission, _ agents: Agents) throws(Problem) -> (any Exchange)? {
        let identity = try identity(of: admission, at: route, isRuntime: isRuntime, now: request.receivedAt)
        var options = ForwardedHead.Options(route, pool: pool)
        options.dropsProtocolSession = agents.dropsSession
        options.clientCertificate = connection.certificateField(for: route)
        let forwarded = ForwardedHead(
            request: request, path: route.upstreamPath(of: request.path),
            query: CredentialQuery.withoutCredentials(request.query), identity: identity.bytes, options: options)
        services.metrics.proxied.increment()
        var terms = ProxyExchange.Terms(
            head: forwarded.plain(), timeout: route.timeout, maxBody: maxBody, ownsCORS: route.ownsCORS,
            admission: admission, isLeased: route.isLeased, leaseBounds: services.leaseBounds,
            receivedAt: request.receivedAt)
        terms.member = agents.member
        terms.judge = agents.judge
        terms.dropsProtocolSession = agents.dropsSession
        return ProxyExchange(
            writer: connection, pool: pool, leases: loop.leases, log: services.upstreamLog, request: head, terms: terms)
    }

    private var maxBody: Int64? { route.maxBody ?? services.maxBody }

    /// Redirects a refused page view to the login page; every other request is answered with the problem. The refusal
    /// of a resource names its metadata in the challenge (RFC 9728 section 5.1).
    func refuse(_ refusal: Problem) {
        let problem = route.resourceChallenge?.applied(to: refusal) ?? refusal
        guard let url = route.configuration.loginURL, Self.mayHelp(problem), head.isNavigation else {
            return connection.respond(problem)
        }
        connection.observe(problem)
        connection.respond(
            status: 303,
            fields: [("Location", withReturn(url, problem.stepUp)), ("Cache-Control", "no-store")], body: [])
    }

    /// Whether the request may be admitted after the caller has signed in.
    private static func mayHelp(_ problem: Problem) -> Bool {
        problem.status == 401 || problem.code == .sessionMismatch || problem.reason == AccessTerms.anonymousReason
    }

    /// `login_url` with `return_to`: the path and query that were asked for, always on the same origin. Where a newer
    /// or stronger sign-in is needed, its parameters follow.
    private func withReturn(_ loginURL: String, _ stepUp: StepUp?) -> String {
        var path = String(decoding: request.path, as: UTF8.self)
        if let query = CredentialQuery.withoutCredentials(request.query) {
            path += "?" + String(decoding: query, as: UTF8.self)
        }
        let encoded = ForwardedIdentity.queryValue(path)
        let parameters = (stepUp?.parameters ?? []).map { "&\($0.name)=\(ForwardedIdentity.queryValue($0.value))" }
        let separator = loginURL.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return loginURL + separator + "return_to=" + encoded + parameters.joined()
    }
}
