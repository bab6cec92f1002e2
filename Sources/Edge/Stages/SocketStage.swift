import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import Metrics
import NIOCore
import Proxy
import SecurityGuard
import Sockets

/// A WebSocket upgrade, from its handshake through the gate to what the socket becomes.
struct SocketStage: GatedStage {
    /// What is at the other end.
    enum Peer {
        /// The agent protocol of the embedded Runtime.
        case agent
        /// The diagnostic echo.
        case echo
        /// A routed upstream, or the external Runtime, to which the socket is relayed.
        case upstream(Route, UpstreamPool, isRuntime: Bool)
    }

    let dispatcher: Dispatcher
    let request: EdgeRequest
    let peer: Peer
    private let handshake: WebSocketHandshake.Verdict

    /// Looks at the handshake; ``start()`` refuses one that is malformed.
    init(dispatcher: Dispatcher, request: EdgeRequest, peer: Peer) {
        self.dispatcher = dispatcher
        self.request = request
        self.peer = peer
        self.handshake = WebSocketHandshake.judge(request.head)
    }

    /// Checks the handshake, then goes through the gate with the carriers of a socket: no cookie counts.
    func start() throws(Problem) -> (any Exchange)? {
        connection.closeAfterAnswer()
        if case .upstream(let route, _, _) = peer {
            try connection.requireCertificate(for: route, at: request.receivedAt)
        }
        _ = try handshakeKey()
        let way: GateRequest.Way = if case .agent = peer { .agentHandshake } else { .handshake }
        let asked = GateRequest(
            head: head, query: request.query, way: way, cookies: .none, receivedAt: request.receivedAt)
        return try dispatcher.admit(asked, access, for: self)
    }

    private var access: AccessTerms {
        switch peer {
        case .agent, .echo: AccessTerms(requirement: .tokenAndSession, identity: [])
        case .upstream(let route, _, _): route.access
        }
    }

    /// Opens the socket at once, or begins the handshake with the upstream.
    ///
    /// - Throws: `rate_limited` where the session or the user has as many sockets as it may.
    func proceed(_ admission: Admission) throws(Problem) -> (any Exchange)? {
        connection.record.admission = admission
        switch peer {
        case .agent:
            let resumeFrom = try CredentialQuery.resumeFrom(request.query)
            guard
                let agent = AgentSocket(runtime: services.runtime, admission: admission, resumeFrom: resumeFrom)
            else { throw Problem(.sessionMismatch) }
            return try embed(agent, admission)
        case .echo: return try embed(EchoSocket(), admission)
        case .upstream(let route, let pool, let isRuntime):
            try connection.countTowardsLimit(of: route, admission, request, services)
            return try relay(admission, to: pool, route, isRuntime: isRuntime)
        }
    }

    /// Refuses with a normal answer. With `websocket.refusals: close`, scripts of allowed origins get a close frame
    /// instead, which they can read.
    func refuse(_ problem: Problem) {
        guard services.configuration.webSocket.refusals == .close, problem.code != .originRefused,
            case .accepted(let key) = handshake, let origin = head.only(.origin),
            head.withBytes(origin.value, { services.origins.allows($0) })
        else { return connection.respond(problem) }
        connection.observe(problem)
        let offers = try? Subprotocols.read(head)
        let answer = handshakeAnswer(accept: accept(key), ownProtocol: offers?.offersOwn == true)
        var close = ByteBuffer()
        FrameEncoder.close(code: UInt16(4000 + problem.status), reason: problem.code.rawValue, to: &close)
        connection.switchProtocols(answer, first: close, to: RefusedTunnel(deadlines: loop.deadlines))
    }

    // MARK: What the socket becomes

    private func embed(_ application: any SocketApplication, _ admission: Admission) throws(Problem) -> (any Exchange)?
    {
        let settings = services.configuration.webSocket
        let answer = handshakeAnswer(
            accept: accept(try handshakeKey()), ownProtocol: try Subprotocols.read(head).offersOwn)
        let socket = EmbeddedSocket(
            application: application, admission: admission, reservation: try reservation(for: admission),
            leases: loop.leases,
            leaseBounds: services.leaseBounds, admittedAt: loop.now(), deadlines: loop.deadlines,
            maxMessage: settings.maxMessage, pingInterval: .milliseconds(settings.ping))
        services.metrics.upgrades.increment()
        connection.switchProtocols(answer, to: socket)
        return nil
    }

    private func relay(
        _ admission: Admission, to pool: UpstreamPool, _ route: Route, isRuntime: Bool
    ) throws(Problem) -> (any Exchange)? {
        // A socket on an open route belongs to no user or session, so it is not counted.
        let reservation = admission.isOpen ? nil : try reservation(for: admission)
        let identity = try identity(of: admission, at: route, isRuntime: isRuntime, now: request.receivedAt)
        let offers = try Subprotocols.read(head)
        var options = ForwardedHead.Options(route, pool: pool)
        options.clientCertificate = connection.certificateField(for: route)
        let forwarded = ForwardedHead(
            request: request, path: route.upstreamPath(of: request.path),
            query: CredentialQuery.withoutCredentials(request.query), identity: identity.bytes, options: options)
        let exchange = RelayExchange(
            writer: connection, pool: pool, leases: loop.leases, log: services.upstreamLog, request: head,
            terms: RelayExchange.Terms(
                head: forwarded.upgrade(protocols: offers.plain), timeout: route.timeout,
                accept: accept(try handshakeKey()), ownsCORS: true, admission: admission,
                leaseBounds: services.leaseBounds, admittedAt: loop.now(), reservation: reservation,
                // Browsers fail a handshake that is answered without a subprotocol when they offered some, which they
                // must do to carry credentials. Where the upstream chooses none, the gateway's own is answered.
                ownProtocol: offers.carriesCredentials && offers.offersOwn ? Subprotocols.own : nil,
                refuse: { refuse($0) }))
        connection.expectTunnel()
        services.metrics.upgrades.increment()
        return exchange
    }

    private func reservation(for admission: Admission) throws(Problem) -> SocketReservation {
        guard let reservation = SocketReservation(limiter: services.socketLimiter, admission: admission) else {
            throw Problem(.rateLimited, detail: "Too many sockets are open.", reason: "socket_cap")
        }
        return reservation
    }

    // MARK: The handshake

    /// The client's `Sec-WebSocket-Key` (RFC 6455 section 4.2.1).
    ///
    /// - Throws: `upgrade_required` where the request asks for no upgrade to WebSocket 13, `invalid_request` where its
    ///   handshake is malformed.
    private func handshakeKey() throws(Problem) -> ByteRange {
        switch handshake {
        case .accepted(let key): return key
        case .notOffered:
            throw Problem(.upgradeRequired, detail: "This path accepts only WebSocket upgrades.", reason: "no_upgrade")
        case .unsupportedVersion:
            throw Problem(.upgradeRequired, detail: "Sec-WebSocket-Version must be 13.", reason: "version")
        case .refused(let reason):
            throw Problem(.invalidRequest, detail: "WebSocket handshake: \(reason).", reason: "handshake")
        }
    }

    private func accept(_ key: ByteRange) -> String {
        WebSocketHandshake.accept(key, of: head, sha1: HandshakeDigest.sha1)
    }

    private func handshakeAnswer(accept: String, ownProtocol: Bool) -> AnswerHead {
        var answer = AnswerHead(status: 101, connection.answerForm, date: nil)
        answer.fields.add("Upgrade", "websocket")
        answer.fields.add("Connection", "Upgrade")
        answer.fields.add("Sec-WebSocket-Accept", accept)
        if ownProtocol { answer.fields.add("Sec-WebSocket-Protocol", Subprotocols.own) }
        return answer
    }
}
