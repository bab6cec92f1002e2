import Answers
import EdgeConfiguration
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SecurityGuard
import SignIn

/// The API behind the edge: Hummingbird's router over the gateway's own paths, with the one shape of refusal around it.
///
/// Every request given to it is answered; none of its refusals or faults escapes as an error. Made at the start and at
/// each reload; the configuration of the services decides which endpoints there are.
package struct APIResponder: HTTPResponder {
    package typealias Context = APIContext

    private let services: APIServices
    private let table: APIPathTable
    private let router: RouterResponder<APIContext>

    /// The paths that do not exist while `accounts.passwords` is off.
    private static let passwordPaths = [AuthRoutes.passwordPath, AccountRoutes.registerPath]

    /// All endpoints. Everything else that needs their paths is made from this list: the paths that take precedence
    /// over routes (``paths``), the table of allowed methods, Hummingbird's router. Two entries may have the same path
    /// and different methods. The metadata of resources is not among them, since its paths follow from the
    /// configuration.
    static let routes: [APIRoute] =
        SessionRoutes.all + ExtendRoute.all + SessionCreationRoutes.all + AuthRoutes.all + AccountRoutes.all
        + [LoginRoute.route, RefreshRoute.route, LogoutRoute.route, IntentRoute.route] + ProviderRoutes.all
        + PasskeyRoutes.all
        + OAuthRoutes.all + AuthorizeRoutes.all + RegistrationRoute.all + GrantRoutes.all + PersonalTokenRoutes.all
        + WellKnownRoutes.all

    /// Paths at the root that are the gateway's own only while there is a resource: clients fall back to them.
    private static let rootPaths = [AuthorizeRoutes.rootPath, RegistrationRoute.rootPath]
    /// The paths that do not exist while there is no resource.
    private static let agentPaths = rootPaths + [AuthorizeRoutes.path, RegistrationRoute.path]

    /// The paths of all endpoints, including those that are switched off, but for those at the root. A segment in
    /// braces stands for any segment. In the order of ``routes``; a path with two methods is there twice.
    package static let paths: [String] =
        (routes.map(\.path) + [ResourceMetadataRoutes.path]).filter { !rootPaths.contains($0) }

    /// The paths of all endpoints with this configuration, including those that are switched off.
    package static func paths(with configuration: GatewayConfiguration) -> [String] {
        configuration.hasResources ? pathsWithResource : paths
    }

    /// The paths of all endpoints where there is a resource, including those that are switched off.
    package static let pathsWithResource: [String] = paths + rootPaths

    /// Whether an endpoint takes form data and not JSON. Those of OAuth, but for the registration of clients, which
    /// takes JSON (RFC 7591 section 3.1), and that of providers' logouts. A body of the other type is answered with 415
    /// by the edge.
    package static func takesForm(_ path: String) -> Bool {
        switch RefusalForm(path: path) {
        case .oauth: path != RegistrationRoute.path && path != RegistrationRoute.rootPath
        case .problemWithError: true
        case .problem, .page: false
        }
    }

    /// Whether there is an endpoint that takes a POST at this path, with the present configuration.
    package func takesPost(at path: String) -> Bool { table.refusal(of: .post, path: path) == nil }

    /// The code of the refusal of a body that is not read. A provider that announces a logout gets 400 for whatever is
    /// wrong (OpenID Connect Back-Channel Logout 1.0 §2.8).
    ///
    /// - Parameter usual: the code at every other path.
    /// - Parameter path: in its canonical form.
    package static func code(ofBody usual: ProblemCode, at path: String) -> ProblemCode {
        path.hasPrefix(ProviderRoutes.backchannelPrefix) ? .invalidRequest : usual
    }

    /// Builds the router. Endpoints that the configuration switches off are left out: they are answered with 404 like
    /// any unknown path.
    package init(_ services: APIServices) {
        var routes = Self.routes
        let accounts = services.configuration.accounts
        if !accounts.passwords { routes.removeAll { Self.passwordPaths.contains($0.path) } }
        if !accounts.passwords, !services.acceptsTokens {
            routes.removeAll { $0.path == LoginRoute.route.path && $0.method == .post }
        }
        if services.passkeys == nil {
            let paths = PasskeyRoutes.all.map(\.path)
            routes.removeAll { paths.contains($0.path) }
        }
        if !accounts.registration { routes.removeAll { $0.path == AccountRoutes.registerPath } }
        let agents = services.agents.settings
        if agents.grantable.isEmpty { routes.removeAll { Self.agentPaths.contains($0.path) } }
        if !agents.registration {
            routes.removeAll { $0.path == RegistrationRoute.path || $0.path == RegistrationRoute.rootPath }
        }
        routes += ResourceMetadataRoutes.all(agents.resources)

        let router = Router(context: APIContext.self, options: [.autoGenerateHeadEndpoints])
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                await answer(route, services, request, context)
            }
        }
        self.services = services
        self.table = APIPathTable(routes)
        self.router = router.buildResponder()
    }

    /// Answers a request of the router.
    ///
    /// 404 and 405 are decided before the router sees the request. After a request with another method than GET and
    /// HEAD, the answer waits until the sockets and streams that it has ended are closed. Never throws.
    package func respond(to request: Request, context: APIContext) async throws -> Response {
        if let refusal = table.refusal(of: request.method, path: context.facts.path) {
            return refusalResponse(refusal, services, context.facts, cookies: [])
        }
        do {
            let response = try await router.respond(to: request, context: context)
            if request.method != .get, request.method != .head { await services.leasesSettled() }
            return response
        } catch {
            // The router has no route for the request.
            let isUnknown = (error as? HTTPError)?.status == .notFound
            return refusalResponse(
                isUnknown ? Problem(.notFound) : Problem.from(error), services, context.facts, cookies: [])
        }
    }
}

/// Runs one route and turns its answer or refusal into a response.
private func answer(
    _ route: APIRoute, _ services: APIServices, _ request: Request, _ context: APIContext
) async -> Response {
    let call = APICall(services: services, request: request, context: context)
    do {
        let answer = try await route.answer(call)
        return response(answer, call)
    } catch {
        let problem = Problem.from(error)
        if problem.reason == Problem.unexpectedReason {
            services.logger.error(
                "a request failed in an unforeseen way",
                metadata: [
                    "request_id": "\(call.facts.requestID)", "path": "\(route.path)",
                    "error": "\(String(describing: type(of: error)))",
                ])
        }
        return refusalResponse(problem, services, call.facts, cookies: call.setCookies)
    }
}

private func response(_ answer: APIAnswer, _ call: APICall) -> Response {
    var fields = HTTPFields()
    fields[.cacheControl] = answer.cacheControl
    if let type = answer.contentType { fields[.contentType] = type }
    append(answer.headers, to: &fields)
    append(cookies: call.setCookies, requestID: call.facts.requestID, to: &fields)
    let body = answer.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
    return Response(status: answer.status, headers: fields, body: body)
}

/// The response for a refusal, in its own form or the one that its path uses. The refusal is written to the audit log.
private func refusalResponse(
    _ problem: Problem, _ services: APIServices, _ facts: APIRequestFacts, cookies: [String]
) -> Response {
    let answer = RefusalAnswer(
        problem, as: RefusalForm(path: facts.path, isNavigation: facts.isNavigation), requestID: facts.requestID,
        explain: services.configuration.errors.explain)
    services.note(problem, of: facts)
    var fields = HTTPFields()
    append(answer.fields, to: &fields)
    append(cookies: cookies, requestID: facts.requestID, to: &fields)
    return Response(
        status: .init(code: answer.status), headers: fields,
        body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
}

private func append(_ headers: [(name: String, value: String)], to fields: inout HTTPFields) {
    for header in headers {
        guard let name = HTTPField.Name(header.name) else { continue }
        fields.append(HTTPField(name: name, value: header.value))
    }
}

private func append(cookies: [String], requestID: String, to fields: inout HTTPFields) {
    for cookie in cookies { fields.append(HTTPField(name: .setCookie, value: cookie)) }
    if let name = HTTPField.Name("X-Request-Id") { fields[name] = requestID }
}
