import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore
import Proxy
import Runtime
import SecurityGuard
import Sockets
import Synchronization

/// A WebSocket upgrade, from the gate to whatever the socket becomes.
package struct SocketStage {
    let dispatcher: Dispatcher
    package let request: EdgeRequest

    private var connection: EdgeConnection { dispatcher.connection }
    private var services: EdgeServices { dispatcher.services }
    private var loop: LoopState { dispatcher.loop }
    private var head: RequestHead { request.head }

    /// The agent socket: the embedded Runtime's, or relayed to an external one.
    func agent() -> (any Exchange)? {
        if let pool = loop.upstreams.runtime {
            return judge(isAgent: false) { stage, upgrade in
                stage.relay(upgrade, to: pool, RuntimeTarget.route, isRuntime: true)
            }
        }
        return judge(isAgent: true) { stage, upgrade in
            guard let permit = upgrade.admitted.permit else { return stage.refuse(Problem(.sessionMismatch)) }
            let agent = AgentSocket(
                runtime: stage.services.runtime, permit: permit, resumeFrom: upgrade.resumeFrom)
            return stage.embed(agent, upgrade)
        }
    }

    /// The diagnostic echo: always here.
    func echo() -> (any Exchange)? {
        judge(isAgent: false) { stage, upgrade in stage.embed(EchoSocket(), upgrade) }
    }

    /// A routed socket.
    func relay(_ route: Route, pool: UpstreamPool) -> (any Exchange)? {
        let terms = route.configuration
        return judge(isAgent: false, requirement: terms.require, scopes: terms.scopes) { stage, upgrade in
            stage.relay(upgrade, to: pool, route, isRuntime: false)
        }
    }

    // MARK: The gate

    private typealias Next = (SocketStage, UpgradeRequest) -> (any Exchange)?

    private func judge(
        isAgent: Bool, requirement: RouteConfiguration.Requirement = .tokenAndSession, scopes: [String] = [],
        _ next: @escaping Next
    ) -> (any Exchange)? {
        connection.closeAfterAnswer()
        connection.answerFields = CORS(services.origins, head, isPublic: false).fields()
        let gate = UpgradeGate(
            gate: Gate(loop.gate), head: head, query: request.query, now: request.receivedAt, isAgent: isAgent)
        switch gate.judge(requirement: requirement, scopes: scopes) {
        case .refused(let problem): return refuse(problem)
        case .admitted(let upgrade): return next(self, upgrade)
        case .later(let future):
            let deferred = DeferredExchange(writer: connection)
            let bound = NIOLoopBound((self, deferred, next), eventLoop: connection.eventLoop)
            future.whenComplete { result in
                let (stage, deferred, next) = bound.value
                guard !deferred.isGone else { return }
                switch result {
                case .success(.success(let upgrade)): deferred.resolve(next(stage, upgrade))
                case .success(.failure(let problem)): deferred.resolve(stage.refuse(problem))
                case .failure: deferred.resolve(stage.refuse(Problem(.storeUnavailable)))
                }
            }
            return deferred
        }
    }

    /// A refusal is a normal answer; with `websocket.refusals: close`, scripts of allowed origins get it as a close
    /// frame instead, which they can read.
    private func refuse(_ problem: Problem) -> (any Exchange)? {
        guard services.configuration.webSocket.refusals == .close, problem.code != .originRefused,
            case .accepted(let key) = WebSocketHandshake.judge(head), let origin = head.only(.origin),
            head.withBytes(origin.value, { services.origins.allows($0) })
        else { return dispatcher.refuse(problem) }
        services.observe(problem, requestID: request.id)
        var answer = handshakeAnswer(accept: accept(key), ownProtocol: ownProtocol)
        FrameEncoder.close(code: UInt16(4000 + problem.status), reason: problem.code.rawValue, to: &answer)
        connection.switchProtocols(answer, to: RefusedTunnel(deadlines: loop.deadlines))
        return nil
    }

    // MARK: What the socket becomes

    private func embed(_ application: any SocketApplication, _ upgrade: UpgradeRequest) -> (any Exchange)? {
        guard let terms = leaseTerms(upgrade.admitted), let place = place(for: upgrade.admitted) else {
            return refuse(Problem(.rateLimited, detail: "Too many sockets are open.", reason: "socket_cap"))
        }
        let settings = services.configuration.webSocket
        let socket = EmbeddedSocket(
            application: application, place: place, leases: loop.leases, terms: terms, deadlines: loop.deadlines,
            maxMessage: settings.maxMessage, pingInterval: .milliseconds(settings.ping))
        services.metrics.upgrades.add(1, ordering: .relaxed)
        let own = upgrade.protocols.contains(Subprotocols.own) ? Subprotocols.own : nil
        connection.switchProtocols(handshakeAnswer(accept: upgrade.accept, ownProtocol: own), to: socket)
        return nil
    }

    private func relay(
        _ upgrade: UpgradeRequest, to pool: UpstreamPool, _ route: Route, isRuntime: Bool
    ) -> (any Exchange)? {
        let admitted = upgrade.admitted
        var place: SocketPlace?
        if admitted.principal != nil || admitted.permit != nil {
            place = self.place(for: admitted)
            guard place != nil else {
                return refuse(Problem(.rateLimited, detail: "Too many sockets are open.", reason: "socket_cap"))
            }
        }
        guard
            let identity = try? loop.identityMaker.identity(
                of: admitted, route: route.index, audience: route.configuration.assertionAudience, isRuntime: isRuntime,
                now: request.receivedAt)
        else { return refuse(Problem(.overloaded, reason: "assertion_failed")) }
        let forwarded = ForwardedHead(
            request: request, path: isRuntime ? request.path[...] : route.upstreamPath(of: request.path),
            query: RequestForm.queryWithoutCredentials(request), identity: identity,
            options: ForwardedHead.Options(route, pool: pool))
        let exchange = RelayExchange(
            writer: connection, pool: pool, leases: loop.leases, log: services.upstreamLog, request: head,
            terms: RelayExchange.Terms(
                head: forwarded.upgrade(protocols: upgrade.protocols),
                timeout: .milliseconds(route.configuration.timeout), accept: upgrade.accept, ownsCORS: true,
                lease: leaseTerms(admitted), place: place, ownProtocol: protocolOfCarrier))
        services.metrics.upgrades.add(1, ordering: .relaxed)
        return exchange
    }

    private func leaseTerms(_ admitted: Admitted) -> LeaseTerms? {
        admitted.leaseTerms(
            LeaseBounds(
                clockSkew: services.configuration.tokens.clockSkew,
                maxLifetime: services.configuration.webSocket.maxLifetime),
            now: loop.now())
    }

    private func place(for admitted: Admitted) -> SocketPlace? {
        let tenant = admitted.principal?.tenantID ?? admitted.permit?.tenantID ?? ""
        let user = (admitted.principal?.subject ?? admitted.permit?.userID).map { tenant + " " + $0 }
        // Anonymous sessions are nobody's: each counts for itself. A token alone has no session to count for.
        return SocketPlace(census: services.census, session: admitted.permit?.sessionID, user: user)
    }

    // MARK: The 101

    private var ownProtocol: String? {
        let offers = try? Subprotocols.read(head)
        return offers?.plain.contains(Subprotocols.own) == true ? Subprotocols.own : nil
    }

    /// Browsers give up on an answer without a subprotocol when they offered some, as they must to carry credentials:
    /// where the upstream has none of its own, ours is answered.
    private var protocolOfCarrier: String? {
        guard let offers = try? Subprotocols.read(head), !offers.tokens.isEmpty || !offers.sessions.isEmpty else {
            return nil
        }
        return offers.plain.contains(Subprotocols.own) ? Subprotocols.own : nil
    }

    private func accept(_ key: ByteRange) -> String {
        WebSocketHandshake.accept(key, of: head, sha1: HandshakeDigest.sha1)
    }

    private func handshakeAnswer(accept: String, ownProtocol: String?) -> ByteBuffer {
        var out = ByteBuffer()
        out.writeStaticString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
        out.writeString("Sec-WebSocket-Accept: \(accept)\r\n")
        if let ownProtocol { out.writeString("Sec-WebSocket-Protocol: \(ownProtocol)\r\n") }
        out.writeStaticString("\r\n")
        return out
    }
}

/// The external Runtime as a route.
package enum RuntimeTarget {
    package static let route: Route = {
        var configuration = RouteConfiguration(path: "/api/runtime")
        configuration.require = .tokenAndSession
        configuration.audience = "runtime"
        return Route(configuration, index: -1)
    }()
}

/// What a socket is after a refusal by close frame: nothing comes in or out until the client has gone.
package final class RefusedTunnel: Tunnel {
    private let deadlines: DeadlineWheel

    package init(deadlines: DeadlineWheel) { self.deadlines = deadlines }

    package func opened(on channel: any Channel) { SocketEnding.close(channel, on: deadlines) }
    package func received(_ bytes: ByteBuffer) {}
    package func receivedAll() {}
    package func clientBecameWritable() {}
    package func clientGone() {}
    package func drain() {}
    package var wantsBytes: Bool { true }
}
