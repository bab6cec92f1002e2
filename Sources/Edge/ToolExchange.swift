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

/// Collects the body of a request to the tools, has it judged, and writes the answer: one JSON text, or a stream of
/// events, which ends with its lease. Confined to the connection's event loop; the conversation runs in tasks.
final class ToolExchange: Exchange, LeaseHolder, DeadlineHolder, LastingExchange {
    /// How many events may be on their way to the client at once.
    private static let window = 32

    private let connection: EdgeConnection
    private let request: EdgeRequest
    private let route: Route
    private let admission: Admission
    private var facts: ToolFacts
    private var body = ByteBuffer()
    private var isOver = false
    private var isStreaming = false
    private let deadline: ConnectionDeadline
    private var leaseID: LeaseTable.ID?
    /// A place among the sockets and streams of the session and its user; nil for the answer to a call.
    private var place: SocketReservation?
    private var isListening = false
    /// The Runtime's side of the session's stream.
    private var agent: AgentConnection?
    /// How many events were given to the connection and not yet reported as written.
    private var unreported = 0
    private var task: Task<Void, Never>?

    private var loop: LoopState { connection.loop }
    private var server: ToolServer { connection.services.tools.server }

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

    // MARK: The request

    var wantsContinueFromGateway: Bool { true }

    func received(body part: ByteBuffer) {
        guard !isOver else { return }
        guard body.readableBytes + part.readableBytes <= RPCBody.maximumBytes else {
            return refuse(Problem(.payloadTooLarge, detail: "At most 64 KiB are taken here."), closing: true)
        }
        var part = part
        body.writeBuffer(&part)
    }

    /// Judges whether the token is still good, and has the request answered.
    func receivedEnd() {
        deadline.cancel()
        guard !isOver else { return }
        if facts.method == .post, !facts.sendsJSON {
            return refuse(Problem(.unsupportedMediaType, detail: "Send the body as application/json."))
        }
        // The token was judged when the head came, and the body may have taken its time.
        guard !connection.services.securityGuard.isRevoked(facts.principal) else {
            return refuse(Problem(.invalidToken, reason: "revoked"))
        }
        facts.body = Array(body.readableBytesView)
        body = ByteBuffer()
        let services = connection.services
        let conversation = ToolConversation(
            facts: facts, runtime: services.runtime, sessions: services.protocolSessions, tools: services.tools)
        let endings = loop.protocolSessions.endings
        let me = NIOLoopBound(self, eventLoop: connection.eventLoop)
        connection.eventLoop.makeFutureWithTask { try await conversation.decide() }.whenComplete { result in
            me.value.decided(result, conversation, endings)
        }
    }

    /// Tells the Runtime how many events were taken, so that it sends as many more.
    func clientBecameWritable() {
        guard unreported > 0, let agent else { return }
        agent.written(events: unreported)
        unreported = 0
    }

    /// Ends the stream, and gives its place and its lease back.
    func clientGone() { end() }

    /// Before the stream: the body is late. In it: nothing was sent for a while, so that proxies in between may take
    /// the connection for dead.
    func deadlinePassed() {
        guard !isOver else { return }
        guard isStreaming else {
            return refuse(
                Problem(.badMessage, .late, detail: "The request body did not arrive in time."), closing: true)
        }
        connection.sendBody(ByteBuffer(string: ":\n\n"))
        connection.flushResponse()
        keepAlive()
    }

    // MARK: The answer

    private func decided(
        _ result: Result<ToolConversation.Decision, any Error>, _ conversation: ToolConversation, _ endings: UInt64
    ) {
        guard !isOver else { return }
        switch result {
        case .failure(let fault as RPCFault):
            let era = (try? ToolEra(version: facts.headers.version)) ?? .single
            answer(status: fault.status(era), session: nil, body: .object(RPCText.error(fault)))
        case .failure(let error): refuse(Problem.from(error))
        case .success(let decision):
            if let learnt = decision.learnt {
                loop.protocolSessions.keep(learnt, asked: endings, now: loop.now())
            }
            // A stream has its lease; an answer may have taken as long.
            guard !connection.services.securityGuard.isRevoked(facts.principal) else {
                return refuse(Problem(.invalidToken, reason: "revoked"))
            }
            switch decision.outcome {
            case .answer(let status, let session, let body): answer(status: status, session: session, body: body)
            case .stream(let stream): begin(stream, conversation)
            }
        }
    }

    private func refuse(_ problem: Problem, closing: Bool = false) {
        end()
        if closing { connection.closeAfterAnswer() }
        connection.respond(route.resourceChallenge?.applied(to: problem) ?? problem)
    }

    private func answer(status: Int, session: String?, body: JSONValue?) {
        end()
        var fields = [(name: "Cache-Control", value: "no-store")]
        if body != nil { fields.append((name: "Content-Type", value: "application/json")) }
        if let session { fields.append((name: "Mcp-Session-Id", value: session)) }
        connection.respond(status: status, fields: fields, body: body?.serializedBytes() ?? [])
    }

    // MARK: Streams

    private func begin(_ stream: ToolStream, _ conversation: ToolConversation) {
        if stream.isLasting {
            place = SocketReservation(limiter: connection.services.socketLimiter, permit: stream.permit)
            guard place != nil else {
                return refuse(Problem(.rateLimited, detail: "Too many streams are open.", reason: "socket_cap"))
            }
        }
        isStreaming = true
        takeLease(stream.permit)
        var head = AnswerHead(status: 200, connection.answerForm, date: loop.date())
        for (name, value) in [
            ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store, no-transform"),
            ("X-Accel-Buffering", "no"), ("X-Request-Id", request.id),
        ] {
            head.fields.add(name, value)
        }
        connection.startResponse(head, framing: .stream)
        connection.flushResponse()
        keepAlive()
        // The write may have found the client gone.
        guard !isOver else { return }
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

    private func takeLease(_ permit: Permit) {
        guard var terms = admission.leaseTerms(connection.services.leaseBounds, now: request.receivedAt) else { return }
        terms.sessionID = permit.sessionID
        terms.sessionEpoch = permit.epoch
        terms.sessionEndsAt = permit.absoluteExpiresAt
        leaseID = loop.leases.insert(terms, holder: self)
    }

    private func keepAlive() {
        guard !isOver else { return }
        let half = TimeAmount.nanoseconds(connection.services.idleTimeout.nanoseconds / 2)
        deadline.arm(after: min(.seconds(15), half), for: self)
    }

    /// Sends the answer to a request as the last event, once it is there.
    private func finish(
        after progressToken: JSONValue?, _ era: ToolEra, _ answer: @escaping @Sendable () async -> JSONObject
    ) {
        guard !isOver else { return }
        let loop = connection.eventLoop
        let me = NIOLoopBound(self, eventLoop: loop)
        task = Task {
            let message = await answer()
            loop.execute {
                let me = me.value
                guard !me.isOver else { return }
                if let progressToken { me.send(ToolServer.progress(progressToken, 1), id: nil, era) }
                me.send(message, id: nil, era)
                me.end()
                me.connection.finishResponse()
            }
        }
    }

    private func listen(_ permit: Permit, after: Int64?, _ era: ToolEra) {
        isListening = true
        if connection.machine.mustDrain { return gatewayStops() }
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
            guard !isOver else { return agent.detach() }
            self.agent = agent
            if connection.isClientWritable { clientBecameWritable() }
        case .failure:
            guard !isOver else { return }
            end()
            connection.finishResponse()
        }
    }

    private func take(_ output: AgentOutput, _ after: Int64?, _ era: ToolEra) {
        guard !isOver else { return }
        switch output {
        case .event(let text):
            unreported += 1
            if let (seq, message) = server.notification(ofEvent: text) { send(message, id: .event(seq), era) }
            if connection.isClientWritable { clientBecameWritable() }
        case .message(let text):
            guard let opening = ToolServer.opening(ofReady: text, after: after) else { return }
            // The client has nothing yet of what follows this position.
            if era.primesStreams { prime(.event(opening.position)) }
            if let loss = opening.loss { send(loss, id: nil, era) }
        case .end:
            end()
            connection.finishResponse()
        }
    }

    /// An event without data, with which the stream can be resumed from here.
    private func prime(_ id: ToolEventID) {
        connection.sendBody(ByteBuffer(string: "retry: 500\nid: \(id.text)\ndata:\n\n"))
        connection.flushResponse()
    }

    /// Sends a message. In the revision without sessions no stream can be resumed, so that events have no ids there.
    private func send(_ message: JSONObject, id: ToolEventID?, _ era: ToolEra) {
        var out = ByteBuffer()
        if let id, era != .single { out.writeString("id: \(id.text)\n") }
        out.writeString("data: ")
        out.writeBytes(JSONValue.object(message).serializedBytes())
        out.writeString("\n\n")
        connection.sendBody(out)
        connection.flushResponse()
    }

    /// Ends the session's stream in order: its client comes back with the number of the last event that it has. A call
    /// is waited for.
    func gatewayStops() {
        guard isListening, !isOver else { return }
        end()
        connection.finishResponse()
    }

    // MARK: The operator

    /// Nil before the stream has begun.
    var lastingKind: LastingKind? { isStreaming && leaseID != nil ? .stream : nil }
    var endsAt: Int64? { leaseID.flatMap(loop.leases.terms(of:))?.due }
    func endedByOperator() { if let leaseID { loop.leases.end(leaseID, .endedByOperator) } }

    // MARK: The end

    /// Cuts the stream: the client sees that it has not ended in order.
    func leaseEnded(_ end: LeaseEnd) {
        leaseID = nil
        self.end()
        connection.abortResponse()
    }

    private func end() {
        isOver = true
        deadline.cancel()
        task?.cancel()
        agent?.detach()
        agent = nil
        if let leaseID { loop.leases.remove(leaseID) }
        leaseID = nil
        place = nil
    }
}
