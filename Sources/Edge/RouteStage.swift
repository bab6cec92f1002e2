import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import Leases
import Metrics
import NIOCore
import Proxy

/// A routed request, from its own checks through the gate to the proxy.
struct RouteStage: GatedStage {
    let dispatcher: Dispatcher
    let request: EdgeRequest
    let route: Route
    let pool: UpstreamPool
    /// Whether the upstream is the external Runtime, which is told the session as well.
    let isRuntime: Bool

    private var connection: EdgeConnection { dispatcher.connection }
    private var services: EdgeServices { dispatcher.services }
    private var loop: LoopState { dispatcher.loop }
    private var head: RequestHead { request.head }

    func start() throws(Problem) -> (any Exchange)? {
        // The announced length is already too large.
        if let maxBody, case .length(let count) = head.framing, count > maxBody { throw Problem(.payloadTooLarge) }
        if request.query == nil,
            let admission = Gate(loop.gate).admitKnown(head, route.access, now: request.receivedAt)
        {
            return try proceed(admission)
        }
        let asked = GateRequest(
            head: head, query: request.query, way: .fields, cookies: request.cookieMode, receivedAt: request.receivedAt)
        return try dispatcher.admit(asked, route.access, for: self)
    }

    func proceed(_ admission: Admission) throws(Problem) -> (any Exchange)? {
        let identity: ByteBuffer
        do {
            identity = try loop.identityMaker.identity(
                of: admission, route: route.index, audience: route.assertionAudience, isRuntime: isRuntime,
                now: request.receivedAt)
        } catch {
            throw Problem(.overloaded, reason: "assertion_failed")
        }
        let forwarded = ForwardedHead(
            request: request, path: route.upstreamPath(of: request.path),
            query: CredentialQuery.withoutCredentials(request.query), identity: identity,
            options: ForwardedHead.Options(route, pool: pool))
        services.metrics.proxied.increment()
        return ProxyExchange(
            writer: connection, pool: pool, leases: loop.leases, log: services.upstreamLog, request: head,
            terms: ProxyExchange.Terms(
                head: forwarded.plain(), timeout: route.timeout, maxBody: maxBody, ownsCORS: route.ownsCORS,
                admission: admission, isLeased: route.isLeased, leaseBounds: services.leaseBounds,
                receivedAt: request.receivedAt))
    }

    private var maxBody: Int64? { route.maxBody ?? services.maxBody }

    /// Redirects a refused page view to the login page; every other request is answered with the problem.
    func refuse(_ problem: Problem) {
        guard let url = route.configuration.loginURL, problem.status == 401 || problem.code == .sessionMismatch,
            isNavigation
        else { return connection.respond(problem) }
        services.observe(problem, requestID: request.id)
        connection.respond(
            status: 303, fields: [("Location", withReturn(url)), ("Cache-Control", "no-store")], body: [])
    }

    private var isNavigation: Bool {
        guard head.knownMethod == .get || head.knownMethod == .head, !head.upgradeOffered else { return false }
        if let mode = head.first(.secFetchMode) { return head.equals(mode.value, "navigate") }
        return head.first(.accept).map { head.string($0.value).lowercased().contains("text/html") } ?? false
    }

    /// `login_url` with `return_to`: the path and query that were asked for, always on the same origin.
    private func withReturn(_ loginURL: String) -> String {
        var path = String(decoding: request.path, as: UTF8.self)
        if let query = CredentialQuery.withoutCredentials(request.query) {
            path += "?" + String(decoding: query, as: UTF8.self)
        }
        let encoded = ForwardedIdentity.queryValue(path)
        return loginURL + (loginURL.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + "return_to=" + encoded
    }
}
