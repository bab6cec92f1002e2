import Answers
import EdgeCore
import Gate
import GatewayAPI
import HTTPWire
import NIOCore
import SecurityGuard

/// Collects the body, calls the router in a task, and writes its answer. Confined to the connection's event loop,
/// except the task. The answer of a task whose client has gone is dropped.
final class APIExchange: Exchange, DeadlineHolder {
    private let connection: EdgeConnection
    private let request: EdgeRequest
    private var facts: APIRequestFacts
    private let form: RefusalForm
    private var body: BodyCollector
    private var isOver = false
    private let bodyDeadline: ConnectionDeadline

    init(
        connection: EdgeConnection, request: EdgeRequest, facts: APIRequestFacts, form: RefusalForm, body: BodyCollector
    ) {
        self.connection = connection
        self.request = request
        self.facts = facts
        self.form = form
        self.body = body
        bodyDeadline = ConnectionDeadline(connection.loop.deadlines)
    }

    /// Limits the time for the whole body. The connection's own deadline begins again with every part of a body; this
    /// one does not.
    func limitTime() {
        bodyDeadline.arm(after: min(APIStage.bodyTime, connection.services.idleTimeout), for: self)
    }

    /// 408: the body has taken longer than ``APIStage/bodyTime``. The connection is closed after the answer.
    func deadlinePassed() {
        guard !isOver else { return }
        refuse(Problem(.badMessage, .late, detail: "The request body did not arrive in time."))
    }

    /// The gateway takes the body itself, so a client that waits is sent 100 (Continue) at once.
    var wantsContinueFromGateway: Bool { true }

    /// Keeps the part. With the first byte over ``APIStage/maxBody`` the request is refused and the connection closed
    /// after the answer.
    func received(body part: ByteBuffer) {
        guard !isOver else { return }
        if !body.append(part) { refuse(APIStage.tooLarge(at: facts.path)) }
    }

    /// Calls the router. A body of another type than the endpoint takes is answered with 415 instead; an empty body
    /// needs no type.
    func receivedEnd() {
        bodyDeadline.cancel()
        guard !isOver else { return }
        let expectedType =
            APIResponder.takesForm(facts.path) ? "application/x-www-form-urlencoded" : "application/json"
        if !body.isEmpty, facts.contentType != expectedType {
            return refuse(
                Problem(
                    APIResponder.code(ofBody: .unsupportedMediaType, at: facts.path),
                    detail: "Send the body as \(expectedType).", reason: "media_type"))
        }
        facts.body = body.take()
        respond()
    }

    /// Does nothing: an answer is written in one piece.
    func clientBecameWritable() {}

    /// The router's task goes on: a login whose password was checked is not undone because its client left.
    func clientGone() {
        isOver = true
        bodyDeadline.cancel()
    }

    private func refuse(_ problem: Problem) {
        isOver = true
        bodyDeadline.cancel()
        connection.closeAfterAnswer()
        connection.respond(problem, as: form)
    }

    private func respond() {
        judgeToken()
        let head = request.head
        let ifNoneMatch = head.first(.ifNoneMatch).map { head.string($0.value) }
        // A HEAD is answered like a GET: the connection leaves out the body and keeps its length.
        let method = head.knownMethod == .head ? "GET" : head.string(head.method)
        let responder = connection.services.responder
        let logger = connection.services.logger
        let facts = facts
        let me = NIOLoopBound(self, eventLoop: connection.eventLoop)
        connection.eventLoop.makeFutureWithTask {
            try await responder.reply(to: facts, method: method, ifNoneMatch: ifNoneMatch, logger: logger)
        }.whenComplete { me.value.answer($0) }
    }

    /// Judges the access token here, where the loop's cache of verified tokens can be used. The route decides what
    /// follows from it.
    private func judgeToken() {
        guard case .bearer(let token) = facts.authorization, CredentialShape(token) == .accessToken else { return }
        facts.verdict = connection.snapshot.gate.tokens.principal(for: token, now: connection.loop.now())
    }

    /// Records the refusal and the caller that the endpoint has determined, for the access log.
    private func note(_ reply: APIReply) {
        if let problem = reply.problem { connection.record.refused(problem) }
        var caller = RequestCaller(
            user: reply.subject.user, tenant: reply.subject.tenant, clientID: reply.subject.clientID,
            session: reply.subject.session)
        if case .success(let principal)? = facts.verdict {
            caller.user = caller.user ?? principal.subject
            caller.tenant = caller.tenant ?? principal.tenantID
            caller.clientID = caller.clientID ?? principal.clientID
        }
        connection.record.found(caller)
    }

    private func answer(_ result: Result<APIReply, any Error>) {
        guard !isOver else { return }
        isOver = true
        switch result {
        case .failure: connection.respond(Problem(.overloaded, reason: "unexpected"), as: form)
        case .success(let reply):
            note(reply)
            connection.respond(status: reply.status, fields: reply.fields, body: reply.body)
        }
    }
}
