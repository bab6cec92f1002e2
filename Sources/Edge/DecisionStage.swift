import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore

/// `/api/auth/verify`: answers for a proxy in front whether a request may pass, by the same gate and on the same path
/// as proxied traffic.
///
/// Nginx `auth_request`, Traefik and Caddy `forward_auth`, HAProxy and Envoy's HTTP `ext_authz` all ask it. Whatever is
/// unclear is refused; what is 400 elsewhere is 401 here, since these proxies know only 2xx, 401 and 403.
package struct DecisionStage {
    let dispatcher: Dispatcher
    package let request: EdgeRequest
    /// The path behind `/api/auth/verify`, as Envoy sends it.
    let appended: [UInt8]

    private var connection: EdgeConnection { dispatcher.connection }
    private var services: EdgeServices { dispatcher.services }
    private var loop: LoopState { dispatcher.loop }
    private var head: RequestHead { request.head }

    /// The request that is asked about.
    private struct Original {
        /// nil where the proxy does not tell it.
        var method: [UInt8]?
        var path: [UInt8]
        var query: [UInt8]?
        var host: [UInt8]
    }

    package func start() -> (any Exchange)? {
        // Nothing forwards these, so no proxy can be told to.
        if head.knownMethod == .trace { return refuse(Self.wrongMethod) }
        switch original() {
        case .failure(let problem): return refuse(problem)
        case .success(nil): return judgeCredentialsAlone()
        case .success(let original?): return judge(original)
        }
    }

    /// Whether the head asks this endpoint, told by its raw path where that has no canonical form.
    static func isAsked(_ head: RequestHead) -> Bool {
        head.withBytes(head.path) { $0.starts(with: "/api/auth/verify/".utf8) }
    }

    // MARK: What is asked about

    private var isAppended: Bool { !appended.isEmpty && appended != [UInt8(ascii: "/")] }

    /// nil when no forwarded field speaks of another request: then the credentials alone are judged.
    private func original() -> Result<Original?, Problem> {
        let said = ForwardedRequest(head)
        guard said.isForwarded || isAppended else { return .success(nil) }
        guard ForwardedFacts.isTrusted(connection.origin.peer, services) else {
            services.warnOfForwarding()
            return .failure(
                Self.forbidden("Forwarded headers are taken only from server.trusted_proxies.", "untrusted_proxy"))
        }
        if said.isDoubled { return .failure(Self.forbidden("A forwarded header was sent twice.", "forwarded_twice")) }
        guard said.uri != nil || isAppended else {
            if said.method == nil, said.host == nil { return .success(nil) }
            return .failure(
                Self.forbidden("X-Forwarded-Uri or X-Original-URI is missing: which path is asked about?", "no_uri"))
        }
        return target(said).map { path, query, host in
            // Envoy asks with the method of the request itself; the others with GET, whatever was asked of them.
            Original(
                method: said.method ?? (said.uri == nil ? ownMethod : nil), path: path, query: query,
                host: HostName.withoutPort((host ?? Array(request.host.utf8)).map(ASCII.lower)))
        }
    }

    private var ownMethod: [UInt8] { head.withBytes(head.method) { Array($0) } }

    private static func forbidden(_ detail: String, _ reason: String) -> Problem {
        Problem(.invalidRequest, status: 403, detail: detail, reason: reason)
    }

    /// Path, query and host of the original request: from its header, else what was appended to ours.
    private func target(_ said: ForwardedRequest) -> Result<([UInt8], [UInt8]?, [UInt8]?), Problem> {
        guard let uri = said.uri else { return .success((appended, request.query, said.host)) }
        guard let parts = ForwardedURI(uri), let path = try? CanonicalPath(parts.path, allowEncodedSlash: true) else {
            return .failure(Problem(.badMessage, reason: "forwarded_uri"))
        }
        if let named = parts.host, let host = said.host, named.map(ASCII.lower) != host.map(ASCII.lower) {
            return .failure(Self.forbidden("The forwarded headers name two hosts.", "forwarded_hosts"))
        }
        let asked = Array(path.bytes.readableBytesView)
        // One of them was not made by the proxy in front, and which one cannot be told.
        if isAppended, asked != appended || parts.query != request.query {
            return .failure(
                Self.forbidden("The forwarded header and the path asked name two requests.", "forwarded_paths"))
        }
        return .success((asked, parts.query, said.host ?? parts.host))
    }

    // MARK: Judging

    private func judge(_ original: Original) -> (any Exchange)? {
        let method = original.method ?? ownMethod
        let match = { path in services.routes.match(path: path, host: original.host, method: method) }
        if PathParameters.areAmbiguous(in: original.path, match: match) {
            return refuse(Problem(.badMessage, reason: "path_parameters"))
        }
        switch match(original.path) {
        case .none:
            return refuse(Problem(.notFound, status: 403, detail: "No route covers this path.", reason: "no_route"))
        case .methodNotAllowed: return refuse(Self.wrongMethod)
        case .route(let route):
            guard route.takesMethod(method) else { return refuse(Self.wrongMethod) }
            if original.path.containsEncodedSlash, !route.configuration.encodedSlash {
                return refuse(Problem(.badMessage, reason: "encoded_slash"))
            }
            return judge(original, route)
        }
    }

    private static var wrongMethod: Problem {
        Problem(.methodNotAllowed, status: 403, detail: "The route does not take this method.", reason: "method")
    }

    private func judge(_ original: Original, _ route: Route) -> (any Exchange)? {
        let terms = route.configuration
        if terms.require == .none { return allow(.anyone, route) }
        do {
            let query = original.query.map { RequestQuery(ByteBuffer(bytes: $0)) }
            let offers = try Subprotocols.read(head)
            let asksForSocket =
                head.present.contains(.secWebSocketKey) || !offers.tokens.isEmpty || !offers.sessions.isEmpty
            if terms.webSocket, try asksForSocket || query?.contains(anyOf: UpgradeGate.credentialNames) == true {
                return try judgeSocket(query, offers, route)
            }
            if try query?.contains(anyOf: ["access_token"]) == true {
                throw Problem(
                    .invalidRequest, detail: "Send the access token in Authorization.", reason: "token_in_query")
            }
        } catch let problem as Problem {
            return refuse(problem)
        } catch {
            return refuse(Problem(.invalidRequest, reason: "query"))
        }
        switch PresentedCredentials.read(head, cookies: request.cookieMode) {
        case .failure(let problem): return refuse(problem)
        case .success(let credentials):
            // A method that is not told counts as one that changes something.
            let cors = CORS(services.origins, head, isPublic: false, method: original.method ?? [])
            if let problem = cors.judge(credentials, for: terms.require) { return refuse(problem) }
            return judge(terms.require, scopes: terms.scopes, credentials, route)
        }
    }

    /// A WebSocket upgrade that a proxy in front asks about: the carriers and rules of the socket edge.
    private func judgeSocket(_ query: RequestQuery?, _ offers: Subprotocols, _ route: Route) throws -> (any Exchange)? {
        let terms = route.configuration
        let origin = head.first(.origin).map { field in head.withBytes(field.value) { Array($0) } }
        if let problem = services.origins.judgeUnsafe(
            origin: origin, originCount: head.count(.origin), fetchSite: nil)
        {
            throw problem
        }
        if try query?.contains(anyOf: ["session_token"]) == true { throw Problem(.sessionTokenUnsupported) }
        var presented = try PresentedCredentials.read(head, cookies: .none).get()
        if terms.require == .session {
            return judge(terms.require, scopes: terms.scopes, presented, route, opensSocket: true)
        }
        var tokens = try query?.values(of: "access_token") ?? []
        var sessions = try query?.values(of: "session_id") ?? []
        let tickets = try query?.values(of: "ticket") ?? []
        if case .bearer(let token) = presented.authorization { tokens.append(token) }
        if let session = presented.sessionID { sessions.append(session) }
        tokens += offers.tokens
        sessions += offers.sessions
        guard tokens.count <= 1, sessions.count <= 1, tickets.count <= 1,
            tickets.isEmpty || (tokens.isEmpty && sessions.isEmpty)
        else { throw Problem(.invalidRequest, detail: "One carrier for each credential.", reason: "two_carriers") }
        if let ticket = tickets.first, !ticket.isEmpty { return try redeem(ticket, route) }
        presented.authorization = tokens.first.map { .bearer($0) } ?? .absent
        presented.sessionID = sessions.first
        return judge(terms.require, scopes: terms.scopes, presented, route, opensSocket: true)
    }

    private func redeem(_ ticket: [UInt8], _ route: Route) throws -> (any Exchange)? {
        if CredentialShape(ticket).isSwapped(from: .ticket) { throw Problem(.credentialsSwapped, reason: "ticket") }
        let gate = UpgradeGate(
            gate: Gate(loop.gate), head: head, query: request.query, now: request.receivedAt, isAgent: false)
        let answer = gate.redeem(ticket, scopes: route.configuration.scopes) { admitted in
            UpgradeRequest(accept: "", protocols: [], resumeFrom: nil, admitted: admitted)
        }
        switch answer {
        case .admitted(let upgrade): return allow(upgrade.admitted, route)
        case .refused(let problem): return refuse(problem)
        case .later(let future): return wait(for: future.map { $0.map(\.admitted) }, route)
        }
    }

    /// An access token; the cookie counts for nothing here, so the cross-site rule has nothing to judge.
    private func judgeCredentialsAlone() -> (any Exchange)? {
        switch PresentedCredentials.read(head, cookies: request.cookieMode) {
        case .failure(let problem): return refuse(problem)
        case .success(let credentials): return judge(.token, scopes: [], credentials, nil)
        }
    }

    private func judge(
        _ requirement: RouteConfiguration.Requirement, scopes: [String], _ credentials: PresentedCredentials,
        _ route: Route?, opensSocket: Bool = false
    ) -> (any Exchange)? {
        switch Gate(loop.gate).judge(requirement, scopes: scopes, credentials) {
        case .refused(let problem): return refuse(problem)
        case .admitted where opensSocket && loop.gate.storeHealth != .current:
            // While the store is silent no socket is let in on what memory says, here as at the socket edge.
            return refuse(Problem(.storeUnavailable, reason: "feed_silent"))
        case .admitted(let admitted): return allow(admitted, route)
        case .later(let future): return wait(for: future, route)
        }
    }

    private func wait(
        for future: EventLoopFuture<Result<Admitted, Problem>>, _ route: Route?
    ) -> (any Exchange)? {
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

    private func allow(_ admitted: Admitted, _ route: Route?) -> (any Exchange)? {
        let identity: ByteBuffer
        do {
            identity = try loop.identityMaker.identity(
                of: admitted, route: (route ?? Self.bare).index,
                audience: (route ?? Self.bare).configuration.assertionAudience, isRuntime: false, now: loop.now())
        } catch {
            return refuse(Problem(.overloaded, reason: "assertion_failed"))
        }
        connection.respond(status: 200, fields: [("Cache-Control", "no-store")], identity: identity, body: [])
        return nil
    }

    private func refuse(_ problem: Problem) -> (any Exchange)? { dispatcher.refuse(Self.refusal(problem)) }

    /// The refusal in a status that the proxies in front understand.
    package static func refusal(_ problem: Problem) -> Problem {
        guard problem.status != 401, problem.status != 403, problem.status < 500, problem.status != 421 else {
            return problem
        }
        var refusal = Problem(problem.code, status: 401, detail: problem.detail, reason: problem.reason)
        refusal.headers = problem.headers
        return refusal
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
