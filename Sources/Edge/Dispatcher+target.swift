import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import Proxy
import Web

/// The second stage: what the request asks for.
extension Dispatcher {
    /// What the request asks for.
    enum Target {
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

    /// Finds the target: the gateway's own paths first, then the page, then the routes.
    ///
    /// - Throws: `not_found`, `method_not_allowed`.
    func find(_ request: EdgeRequest) throws(Problem) -> Target {
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
}
