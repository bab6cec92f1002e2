import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import GatewayAPI
import HTTPWire
import Metrics
import NIOCore
import Proxy
import Web

/// Finds out what answers each request. Read this file to follow a request; these are the stages, in order.
///
/// 1. **Form** (`Dispatcher+form.swift`): the host is allowed, the path has one canonical form, the proxies in front do
/// not contradict themselves.
/// 2. **Target** (`Dispatcher+target.swift`): the gateway's own paths, else the page, else the longest route.
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

    func methodNotAllowed(_ methods: [String]) -> Problem {
        Problem(.methodNotAllowed, headers: [("Allow", methods.joined(separator: ", "))])
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
        case .proxy(let route, _, let isRuntime):
            // The paths of the Runtime are the gateway's own, where Sec-Fetch-Site alone counts as well.
            guard isRuntime || head.present.contains(.origin) else { return nil }
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
        // Parameters of tools are fields of any name (`Mcp-Param-*`), at the Runtime's as at every other resource.
        var echoesHeaders = if case .tools = target { true } else { false }
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
            if case .success(let answer) = answer { gate.remember(answer, answering: question) }
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
                case .ownForm where services.responder.takesPost(at: path):
                    if request.head.knownMethod == .post { try services.origins.requireOwn(request.head) }
                // Where no such form is asked for, it is an endpoint like others.
                case .ownForm, .allowedOrigins: try cors?.requireAllowed()
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
            return run(stage) { stage throws(Problem) in
                // The Runtime's paths are the gateway's own, wherever it runs.
                if isRuntime { try cors?.requireAllowed() }
                return try stage.start()
            }
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
