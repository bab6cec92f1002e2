import Answers
import EdgeCore
import Gate
import GatewayAPI
import HTTPWire
import NIOCore
import SecurityGuard

/// A request to one of the JSON endpoints: its body is collected, then Hummingbird's router answers.
package struct APIStage {
    package static let maxBody = 64 * 1024
    /// How long a whole body may take to arrive, however steadily it does; `server.idle_timeout` where that is shorter.
    static let bodyTime = TimeAmount.seconds(30)

    let dispatcher: Dispatcher
    package let request: EdgeRequest
    package let path: String

    private var services: EdgeServices { dispatcher.services }

    package func start(_ cors: CORS) -> (any Exchange)? {
        if let problem = cors.judge() { return refuse(problem) }
        if let problem = RequestForm.tokenInQuery(request) { return refuse(problem) }
        switch facts() {
        case .failure(let problem): return refuse(problem)
        case .success(let facts):
            if case .length(let count) = request.head.framing, count > Self.maxBody {
                dispatcher.connection.closeAfterAnswer()
                return refuse(Problem(.payloadTooLarge, detail: "At most 64 KiB are taken here."))
            }
            let exchange = APIExchange(
                connection: dispatcher.connection, request: request, facts: facts, isOAuth: isOAuth)
            if !isBodyAtHand { exchange.limitTime() }
            return exchange
        }
    }

    /// Whether the whole body has come with the head, as most do: then nothing has to be waited for.
    private var isBodyAtHand: Bool {
        switch request.head.framing {
        case .none: true
        case .length(let count): Int64(dispatcher.connection.inbound.readableBytes) >= count
        case .chunked, .untilClose: false
        }
    }

    private var isOAuth: Bool { path.utf8.starts(with: "/oauth2/".utf8) }

    /// Refuses before the body, in the words of the path.
    func refuse(_ problem: Problem) -> (any Exchange)? {
        dispatcher.connection.respond(problem, asOAuth: isOAuth)
        return nil
    }

    private func facts() -> Result<APIRequestFacts, Problem> {
        let head = request.head
        return PresentedCredentials.read(head, cookies: request.cookieMode).map { credentials in
            APIRequestFacts(
                requestID: request.id, path: path, query: request.query.map { String(decoding: $0, as: UTF8.self) },
                clientAddress: ClientBucket.name(request.clientAddress),
                authorization: Self.authorization(credentials.authorization),
                sessionSecret: text(credentials.sessionSecret), sessionID: text(credentials.sessionID),
                sessionCookie: text(credentials.sessionCookie), refreshCookie: text(credentials.refreshCookie),
                cookieMode: request.cookieMode, isBrowser: head.present.contains(.secFetchSite),
                origin: head.first(.origin).map { head.string($0.value) }, contentType: contentType(head), body: [])
        }
    }

    private static func authorization(
        _ authorization: PresentedCredentials.Authorization
    ) -> APIRequestFacts.Authorization {
        switch authorization {
        case .absent: .absent
        case .bearer(let token): token.isEmpty ? .absent : .bearer(String(decoding: token, as: UTF8.self))
        case .basic(let rest): .basic(String(decoding: rest, as: UTF8.self))
        case .other: .other
        }
    }

    private func text(_ bytes: [UInt8]?) -> String? {
        bytes.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
    }

    /// nil where there is none, and where there are several: then nobody knows which of them holds.
    private func contentType(_ head: RequestHead) -> String? {
        guard let field = head.only(.contentType) else { return nil }
        let type = head.string(field.value).prefix { $0 != ";" }
        return type.trimmingPrefix { $0 == " " }.lowercased().split(separator: " ").first.map(String.init) ?? ""
    }
}

/// Collects the body, calls the router off the parse, writes what it answers.
final class APIExchange: Exchange, DeadlineHolder {
    private let connection: EdgeConnection
    private let request: EdgeRequest
    private var facts: APIRequestFacts
    private let isOAuth: Bool
    private var body = ByteBuffer()
    private var task: Task<Void, Never>?
    private var isOver = false
    private let bodyDeadline: ConnectionDeadline

    init(connection: EdgeConnection, request: EdgeRequest, facts: APIRequestFacts, isOAuth: Bool) {
        self.connection = connection
        self.request = request
        self.facts = facts
        self.isOAuth = isOAuth
        bodyDeadline = ConnectionDeadline(connection.loop.deadlines)
    }

    /// The connection's own deadline begins anew with every part of a body; this one does not.
    func limitTime() {
        bodyDeadline.arm(after: min(APIStage.bodyTime, connection.services.idleTimeout), for: self)
    }

    func deadlinePassed() {
        guard !isOver else { return }
        refuse(Problem(.badMessage, status: 408, detail: "The request body did not arrive in time."))
    }

    var wantsContinueFromGateway: Bool { true }

    func received(body part: ByteBuffer) {
        guard !isOver else { return }
        guard body.readableBytes + part.readableBytes <= APIStage.maxBody else {
            return refuse(Problem(.payloadTooLarge, detail: "At most 64 KiB are taken here."))
        }
        var part = part
        body.writeBuffer(&part)
    }

    func receivedEnd() {
        bodyDeadline.cancel()
        guard !isOver else { return }
        let expectedType = isOAuth ? "application/x-www-form-urlencoded" : "application/json"
        if body.readableBytes > 0, facts.contentType != expectedType {
            return refuse(Problem(.unsupportedMediaType, detail: "Send the body as \(expectedType)."))
        }
        facts.body = Array(body.readableBytesView)
        respond()
    }

    func clientBecameWritable() {}

    func clientGone() {
        isOver = true
        bodyDeadline.cancel()
        // What has begun goes on: a login that was paid for is not undone because its reader left.
        task = nil
    }

    private func refuse(_ problem: Problem) {
        isOver = true
        bodyDeadline.cancel()
        connection.closeAfterAnswer()
        connection.respond(problem, asOAuth: isOAuth)
    }

    private func respond() {
        judgeToken()
        let head = request.head
        let ifNoneMatch = head.first(.ifNoneMatch).map { head.string($0.value) }
        // A HEAD is answered as its GET: the connection leaves out the body and keeps its length.
        let method = head.knownMethod == .head ? "GET" : head.string(head.method)
        let responder = connection.services.responder
        let logger = connection.services.logger
        let facts = self.facts
        let me = NIOLoopBound(self, eventLoop: connection.eventLoop)
        connection.eventLoop.makeFutureWithTask {
            try await responder.reply(to: facts, method: method, ifNoneMatch: ifNoneMatch, logger: logger)
        }.whenComplete { me.value.answer($0) }
    }

    /// Looks at the access token while the loop's memory of verified ones is at hand; the route decides what it is worth.
    private func judgeToken() {
        guard case .bearer(let token) = facts.authorization, CredentialShape(token.utf8) == .accessToken else { return }
        facts.verdict = connection.loop.gate.tokens.principal(for: token.utf8, now: connection.loop.now())
    }

    private func answer(_ result: Result<APIReply, any Error>) {
        guard !isOver else { return }
        isOver = true
        switch result {
        case .failure: connection.respond(Problem(.overloaded, reason: "unexpected"), asOAuth: isOAuth)
        case .success(let reply): connection.respond(status: reply.status, fields: reply.fields, body: reply.body)
        }
    }
}

extension EdgeConnection {
    /// Refuses in the words of the path: RFC 6749's for `/oauth2/*`, a problem elsewhere.
    fileprivate func respond(_ problem: Problem, asOAuth isOAuth: Bool) {
        guard isOAuth else { return respond(problem) }
        let refusal = OAuthProblem(problem)
        services.observe(problem, requestID: requestID.text)
        respond(
            status: refusal.problem.status, fields: refusal.answerHeaders(),
            body: refusal.body(explain: services.explainsErrors))
    }
}
