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

    static func tooLarge(at path: String) -> Problem {
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
            shownPath: RedactedTarget.text(of: RedactedTarget.redacted(path: request.path)),
            shownMethod: head.registeredMethod,
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

extension EdgeConnection {
    /// Refuses in the form that the endpoint uses.
    func respond(_ problem: Problem, as form: RefusalForm) {
        guard form != .problem else { return respond(problem) }
        observe(problem)
        let answer = RefusalAnswer(problem, as: form, requestID: requestID.text, explain: services.explainsErrors)
        respond(status: answer.status, fields: answer.fields, body: answer.body)
    }
}
