import AgentTools
import Answers
import EdgeCore
import Encodings
import Gate
import HTTPWire
import Leases
import NIOCore
import Runtime
import SecurityGuard
import Sockets

/// One request to the tools: does what ``ToolExchangeMachine`` decides, and holds what a stream needs. Confined to the
/// connection's event loop; the conversation runs in tasks.
final class ToolExchange: Exchange, LeaseHolder, DeadlineHolder, LastingExchange {
    /// How many events may be on their way to the client at once.
    private static let window = 32

    private let connection: EdgeConnection
    private let request: EdgeRequest
    private let route: Route
    private let admission: Admission
    private var facts: ToolFacts
    /// Decides everything about the exchange; nothing else keeps its state.
    private var machine = ToolExchangeMachine()
    /// The stream that is to answer, until it is opened.
    private var stream: ToolStream?
    private let deadline: ConnectionDeadline
    private var leaseID: LeaseTable.ID?
    /// Among the sockets and streams of the session and its user; nil for the answer to a call.
    private var reservation: SocketReservation?
    /// The Runtime's side of the session's stream.
    private var agent: AgentConnection?
    private var task: Task<Void, Never>?

    private var loop: LoopState { connection.loop }
    private var server: ToolServer { connection.services.tools.server }
    private var conversation: ToolConversation {
        let services = connection.services
        return ToolConversation(
            facts: facts, runtime: services.runtime, sessions: services.protocolSessions, tools: services.tools)
    }
    private var isRevoked: Bool { connection.services.securityGuard.isRevoked(facts.principal) }

    /// The body has 30 s in all, or `server.idle_timeout` if that is shorter.
    init(connection: EdgeConnection, request: EdgeRequest, route: Route, admission: Admission, facts: ToolFacts) {
        self.connection = connection
        self.request = request
        self.route = route
        self.admission = admission
        self.facts = facts
        deadline = ConnectionDeadline(connection.loop.deadlines)
        deadline.arm(after: min(APIStage.bodyTime, connection.services.idleTimeout), for: self)
    }

    // MARK: Obeying the machine

    private func obey(_ action: ToolExchangeMachine.Action?) {
        switch action {
        case nil: break
        case .decide(let body)?: decide(body)
        case .open?: if let stream = stream.take() { open(stream) }
        case .comment?:
            connection.sendBody(ByteBuffer(string: ":\n\n"))
            connection.flushResponse()
            keepAlive()
        case .answer(let status, let session, let body)?:
            letGo()
            answer(status: status, session: session, body: body)
        case .refuse(let problem, let closes)?:
            letGo()
            if closes { connection.closeAfterAnswer() }
            connection.respond(route.resourceChallenge?.applied(to: problem) ?? problem)
        case .finish?:
            letGo()
            connection.finishResponse()
        case .abort?:
            letGo()
            connection.abortResponse()
        case .release?: letGo()
        }
    }

    /// Gives the stream's place and its lease back, and ends what runs for it.
    private func letGo() {
        deadline.cancel()
        task?.cancel()
        agent?.detach()
        agent = nil
        if let leaseID { loop.leases.remove(leaseID) }
        leaseID = nil
        reservation = nil
    }

    // MARK: The request

    var wantsContinueFromGateway: Bool { true }
    func received(body part: ByteBuffer) { obey(machine.received(part)) }

    func receivedEnd() {
        deadline.cancel()
        obey(machine.receivedEnd(isUnreadable: facts.method == .post && !facts.sendsJSON, isRevoked: isRevoked))
    }

    func clientGone() { obey(machine.clientGone()) }
    func deadlinePassed() { obey(machine.deadlinePassed()) }
    func gatewayStops() { obey(machine.gatewayStops()) }

    /// Tells the Runtime how many events were taken, so that it sends as many more.
    func clientBecameWritable() {
        guard let agent else { return }
        let count = machine.clientBecameWritable()
        if count > 0 { agent.written(events: count) }
    }

    private func decide(_ body: [UInt8]) {
        facts.body = body
        let conversation = conversation
        let endings = loop.protocolSessions.endings
        let me = NIOLoopBound(self, eventLoop: connection.eventLoop)
        connection.eventLoop.makeFutureWithTask { try await conversation.decide() }.whenComplete { result in
            me.value.decided(result, endings)
        }
    }

    // MARK: The answer

    private func decided(_ result: Result<ToolConversation.Decision, any Error>, _ endings: UInt64) {
        switch result {
        case .failure(let fault as RPCFault):
            obey(machine.decided(fault, (try? ToolEra(version: facts.headers.version)) ?? .single))
        case .failure(let error): obey(machine.decided(Problem.from(error)))
        case .success(let decision):
            if let learnt = decision.learnt, machine.state != .over {
                loop.protocolSessions.keep(learnt, asked: endings, now: loop.now())
            }
            switch decision.outcome {
            case .answer(let status, let session, let body):
                obey(machine.decided(status: status, session: session, body: body, isRevoked: isRevoked))
            case .stream(let stream):
                self.stream = stream
                obey(machine.decidedToStream(isRevoked: isRevoked))
            }
        }
    }

    private func answer(status: Int, session: String?, body: JSONValue?) {
        var fields = [(name: "Cache-Control", value: "no-store")]
        if body != nil { fields.append((name: "Content-Type", value: "application/json")) }
        if let session { fields.append((name: "Mcp-Session-Id", value: session)) }
        connection.respond(status: status, fields: fields, body: body?.serializedBytes() ?? [])
    }

    // MARK: Streams

    private func open(_ stream: ToolStream) {
        if stream.isLasting {
            reservation = SocketReservation(limiter: connection.services.socketLimiter, permit: stream.permit)
        }
        takeLease(stream.permit)
        let end = leaseID.flatMap { loop.leases.endBeforeUse(of: $0) }
        obey(machine.opened(hasPlace: !stream.isLasting || reservation != nil, end: end, listens: stream.listens))
        guard machine.isStreaming else { return }
        startResponse()
        keepAlive()
        // The write may have found the client gone.
        guard machine.isStreaming else { return }
        let conversation = conversation
        switch stream {
        case .call(let run):
            if run.era.primesStreams { prime(.call(run.id)) }
            if let token = run.call.progressToken {
                send(ToolServer.progress(token, 0), id: ToolEventID.call(run.id), run.era)
            }
            finish(after: run.call.progressToken, run.era) { await conversation.perform(run) }
        case .resume(let id, let permit, let era):
            finish(after: nil, era) { await conversation.awaited(id, permit, era) }
        case .listen(let permit, let after, let era): listen(permit, after: after, era)
        }
    }

    private func startResponse() {
        var head = AnswerHead(status: 200, connection.answerForm, date: loop.date())
        for (name, value) in [
            ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store, no-transform"),
            ("X-Accel-Buffering", "no"), ("X-Request-Id", request.id),
        ] {
            head.fields.add(name, value)
        }
        connection.startResponse(head, framing: .stream)
        connection.flushResponse()
    }

    private func takeLease(_ permit: Permit) {
        guard var terms = admission.leaseTerms(connection.services.leaseBounds, now: request.receivedAt) else { return }
        terms.sessionID = permit.sessionID
        terms.sessionEpoch = permit.epoch
        terms.sessionEndsAt = permit.absoluteExpiresAt
        leaseID = loop.leases.insert(terms, holder: self)
    }

    private func keepAlive() {
        guard machine.isStreaming else { return }
        let half = TimeAmount.nanoseconds(connection.services.idleTimeout.nanoseconds / 2)
        deadline.arm(after: min(.seconds(15), half), for: self)
    }

    /// Sends the answer to a request as the last event, once it is there.
    private func finish(
        after progressToken: JSONValue?, _ era: ToolEra, _ answer: @escaping @Sendable () async -> JSONObject
    ) {
        guard machine.isStreaming else { return }
        let loop = connection.eventLoop
        let me = NIOLoopBound(self, eventLoop: loop)
        task = Task {
            let message = await answer()
            loop.execute {
                let me = me.value
                if let progressToken { me.send(ToolServer.progress(progressToken, 1), id: nil, era) }
                me.send(message, id: nil, era)
                me.obey(me.machine.streamEnded())
            }
        }
    }

    private func listen(_ permit: Permit, after: Int64?, _ era: ToolEra) {
        if connection.machine.isDraining { return gatewayStops() }
        let runtime = connection.services.runtime
        let loop = connection.eventLoop
        let me = NIOLoopBound(self, eventLoop: loop)
        loop.makeFutureWithTask {
            try await runtime.attach(permit: permit, resumeFrom: after, window: Self.window) { output in
                loop.execute { me.value.take(output, after, era) }
            }
        }.whenComplete { result in
            me.value.attached(result)
        }
    }

    private func attached(_ result: Result<AgentConnection, any Error>) {
        switch result {
        case .success(let agent):
            guard machine.isStreaming else { return agent.detach() }
            self.agent = agent
            if connection.isClientWritable { clientBecameWritable() }
        case .failure: obey(machine.streamEnded())
        }
    }

    private func take(_ output: AgentOutput, _ after: Int64?, _ era: ToolEra) {
        guard machine.isStreaming else { return }
        switch output {
        case .event(let text):
            machine.tookEvent()
            if let (seq, message) = server.notification(ofEvent: text) { send(message, id: .event(seq), era) }
            if connection.isClientWritable { clientBecameWritable() }
        case .message(let text):
            guard let opening = ToolServer.opening(ofReady: text, after: after) else { return }
            // The client has nothing yet of what follows this position.
            if era.primesStreams { prime(.event(opening.position)) }
            if let loss = opening.loss { send(loss, id: nil, era) }
        case .end: obey(machine.streamEnded())
        }
    }

    /// An event without data, with which the stream can be resumed from here.
    private func prime(_ id: ToolEventID) {
        connection.sendBody(ByteBuffer(string: "retry: 500\nid: \(id.text)\ndata:\n\n"))
        connection.flushResponse()
    }

    /// Sends a message. In the revision without sessions no stream can be resumed, so that events have no ids there.
    private func send(_ message: JSONObject, id: ToolEventID?, _ era: ToolEra) {
        guard machine.isStreaming else { return }
        var out = ByteBuffer()
        if let id, era != .single { out.writeString("id: \(id.text)\n") }
        out.writeString("data: ")
        out.writeBytes(JSONValue.object(message).serializedBytes())
        out.writeString("\n\n")
        connection.sendBody(out)
        connection.flushResponse()
    }

    // MARK: The operator

    /// Nil before the stream has begun.
    var lastingKind: LastingKind? { machine.isStreaming && leaseID != nil ? .stream : nil }
    var endsAt: Int64? { leaseID.flatMap(loop.leases.terms(of:))?.due }
    func endedByOperator() { if let leaseID { loop.leases.end(leaseID, .endedByOperator) } }

    // MARK: The end

    func leaseEnded(_ end: LeaseEnd) {
        leaseID = nil
        obey(machine.leaseEnded())
    }
}
