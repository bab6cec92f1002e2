import Answers
import EdgeCore
import Gate
import GatewayAPI
import HTTPWire
import NIOCore
import SecurityGuard

/// A request to one of the JSON endpoints: its body is collected, then Hummingbird's router answers. What follows from
/// the credentials is decided by the endpoint. Here their carriers are read, so that malformed ones are refused before
/// the body is waited for.
struct APIStage: RequestStage {
    /// The longest body that an endpoint takes, in bytes. A longer one is answered with 413, or 400 for a logout that a
    /// provider announces.
    static let maxBody = 64 * 1024
    /// How long a whole body may take to arrive, even if it arrives steadily; `server.idle_timeout` where that is
    /// shorter.
    static let bodyTime = TimeAmount.seconds(30)

    let dispatcher: Dispatcher
    let request: EdgeRequest
    /// The canonical path of the endpoint.
    let path: String

    /// Reads the credentials, and begins to collect the body.
    ///
    /// - Returns: the exchange; never nil, since every refusal is thrown.
    /// - Throws: the refusal of credentials that are malformed or in the wrong carrier, or of an announced length over
    ///   ``maxBody``.
    func start() throws(Problem) -> (any Exchange)? {
        let credentials = try Carriers.read(fields: request.head, query: request.query, cookies: request.cookieMode)
        try credentials.requireShapes()
        let body = BodyCollector(limit: Self.maxBody)
        guard body.takes(request.head.framing) else {
            dispatcher.connection.closeAfterAnswer()
            throw Self.tooLarge(at: path)
        }
        let exchange = APIExchange(
            connection: dispatcher.connection, request: request, facts: facts(credentials), form: form, body: body)
        if !isBodyAtHand { exchange.limitTime() }
        return exchange
    }

    /// Whether the whole body has come with the head, as most do, so that there is no need to wait.
    private var isBodyAtHand: Bool {
        switch request.head.framing {
        case .none: true
        case .length(let count): Int64(dispatcher.connection.inbound.readableBytes) >= count
        case .chunked, .untilClose: false
        }
    }

    private var form: RefusalForm { RefusalForm(path: path, isNavigation: request.head.isNavigation) }

    fileprivate static func tooLarge(at path: String) -> Problem {
        Problem(
            APIResponder.code(ofBody: .payloadTooLarge, at: path), detail: "At most 64 KiB are taken here.",
            reason: "body_too_large")
    }

    /// Refuses before the body is read, in the form that the path uses.
    func refuse(_ problem: Problem) { dispatcher.connection.respond(problem, as: form) }

    private func facts(_ credentials: PresentedCredentials) -> APIRequestFacts {
        let head = request.head
        return APIRequestFacts(
            requestID: request.id, path: path, query: request.query.map { String(decoding: $0, as: UTF8.self) },
            clientAddress: ClientBucket.name(request.clientAddress), peerAddress: request.clientAddress,
            shownPath: String(decoding: RedactedTarget.redacted(path: request.path), as: UTF8.self),
            authorization: credentials.authorization,
            sessionSecret: text(credentials.sessionSecret), sessionID: text(credentials.sessionID),
            sessionCookie: text(credentials.sessionCookie), refreshCookie: text(credentials.refreshCookie),
            cookieMode: request.cookieMode, isBrowser: head.present.contains(.secFetchSite),
            origin: head.first(.origin).map { head.string($0.value) },
            // What stands behind a space is ignored like a parameter.
            contentType: head.mediaType.map { String($0.prefix { $0 != " " }) }, body: [],
            isNavigation: head.isNavigation)
    }

    private func text(_ bytes: [UInt8]?) -> String? {
        bytes.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
    }
}

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
        let facts = self.facts
        let me = NIOLoopBound(self, eventLoop: connection.eventLoop)
        connection.eventLoop.makeFutureWithTask {
            try await responder.reply(to: facts, method: method, ifNoneMatch: ifNoneMatch, logger: logger)
        }.whenComplete { me.value.answer($0) }
    }

    /// Judges the access token here, where the loop's cache of verified tokens can be used. The route decides what
    /// follows from it.
    private func judgeToken() {
        guard case .bearer(let token) = facts.authorization, CredentialShape(token) == .accessToken else { return }
        facts.verdict = connection.edition.gate.tokens.principal(for: token, now: connection.loop.now())
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

extension EdgeConnection {
    /// Refuses in the form that the endpoint uses.
    fileprivate func respond(_ problem: Problem, as form: RefusalForm) {
        guard form != .problem else { return respond(problem) }
        observe(problem)
        let answer = RefusalAnswer(problem, as: form, requestID: requestID.text, explain: services.explainsErrors)
        respond(status: answer.status, fields: answer.fields, body: answer.body)
    }
}
