import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore
import SecurityGuard

/// What is known of one request while it is answered, for the access log, the metrics and the traces. Each connection
/// has one, which begins anew with every request. Confined to the connection's loop.
package struct RequestRecord {
    /// What the request was for.
    enum Target {
        /// Nothing that exists, or it could not be read.
        case none
        /// The gateway's own endpoints and sockets.
        case api
        case page
        case route(Route)

        /// How the access log and the metrics name it: the configured path, `api`, `page` or `none`.
        var label: String {
            switch self {
            case .none: "none"
            case .api: "api"
            case .page: "page"
            case .route(let route): route.configuration.path
            }
        }

        /// The host that the route is bound to.
        var host: String? {
            if case .route(let route) = self { route.configuration.host } else { nil }
        }
    }

    /// Whether a request has begun and its end was not recorded yet.
    private(set) var isOpen = false
    /// When its head was complete, in ms since the epoch.
    private(set) var receivedAt: Int64 = 0
    private(set) var startedAt = NIODeadline.uptimeNanoseconds(0)
    /// What stage 1 of the ``Dispatcher`` has found out; nil where the request was refused before, and for a socket.
    var request: EdgeRequest?
    /// What the records of a socket say of its handshake.
    private(set) var handshake: HandshakeRecord?
    /// Set when the target is known, before the gate.
    var route = Target.none
    /// Of the answer that was begun; nil where the client was gone before.
    private(set) var status: Int?
    /// The bytes of the body, or of the socket.
    var bytesIn: Int64 = 0
    /// The same towards the client, without heads and framing.
    var bytesOut: Int64 = 0
    /// The upstream that was asked last, as `HOST:PORT` or `unix:` and a path; where none was, the last that could not
    /// be reached.
    private(set) var upstream: String?
    private var upstreamAskedAt: NIODeadline?
    /// How long the upstream took until the head of its answer had arrived.
    private(set) var upstreamTime: TimeAmount?
    /// What admitted the request.
    var admission: Admission?
    /// Whether the request opened a socket.
    private(set) var isSocket = false
    private var details: Details?

    /// What is known only of refused requests and of those to the API; elsewhere it takes no memory.
    private final class Details {
        /// The head of a request that was refused in stage 1; nil where it could not be read.
        var head: RequestHead?
        var code: String?
        var reason: String?
        var caller: RequestCaller?
    }

    /// No request.
    init() {}

    /// A request that begins.
    init(receivedAt: Int64, startedAt: NIODeadline) {
        isOpen = true
        self.receivedAt = receivedAt
        self.startedAt = startedAt
    }

    /// The head; nil where it could not be read.
    var head: RequestHead? { request?.head ?? details?.head }
    /// The canonical path; nil where there is none.
    var path: [UInt8]? { request?.path }
    /// The client's address.
    var client: String? { request?.clientAddress ?? handshake?.client }
    var trace: RequestTrace? { request?.trace ?? handshake?.trace }
    /// The code of the refusal.
    var code: String? { details?.code }
    /// The reason of the refusal.
    var reason: String? { details?.reason }
    /// Who the endpoint of the API, or the gate before it refused the request, found out the caller to be.
    var caller: RequestCaller? { details?.caller }

    /// A request is refused in stage 1.
    mutating func refused(_ head: RequestHead) { noteDetails().head = head }

    /// Keeps its code and reason, and the caller whose token was accepted before.
    mutating func refused(_ problem: Problem) {
        refused(code: problem.code.rawValue, reason: problem.reason)
        guard let caller = problem.caller else { return }
        found(RequestCaller(user: caller.subject, tenant: caller.tenantID, clientID: caller.clientID))
    }

    mutating func refused(code: String, reason: String?) {
        let details = noteDetails()
        details.code = code
        details.reason = reason
    }

    /// Replaces what was known before.
    mutating func found(_ caller: RequestCaller) { noteDetails().caller = caller }

    private mutating func noteDetails() -> Details {
        if let details { return details }
        let made = Details()
        details = made
        return made
    }

    /// The answer begins.
    ///
    /// - Parameter head: begins with the status line.
    mutating func answered(_ status: Int) { self.status = status }

    /// A socket was opened. It may stay open for a day, so the head that it began with is not kept for its line.
    mutating func opened() {
        isSocket = true
        status = 101
        handshake = request.map(HandshakeRecord.init)
        request = nil
    }

    /// A connection was lent. The time until the answer counts from the first upstream that was asked.
    mutating func asked(_ place: String) {
        upstream = place
        if upstreamAskedAt == nil { upstreamAskedAt = .now() }
    }

    /// An upstream could not be connected to. It counts unless another one is asked.
    mutating func notReached(_ place: String) {
        if upstreamAskedAt == nil { upstream = place }
    }

    /// The head of the answer has arrived; only the first one counts.
    mutating func upstreamAnswered() {
        guard upstreamTime == nil, let upstreamAskedAt else { return }
        upstreamTime = .now() - upstreamAskedAt
    }

    /// What the metrics count of it.
    func figures(now: NIODeadline) -> LoopMeters.Figures {
        LoopMeters.Figures(
            route: route, status: status, duration: isSocket ? nil : now - startedAt, upstreamTime: upstreamTime)
    }

    /// The end of the request has been recorded.
    mutating func close() {
        isOpen = false
        // What it holds on to is not needed until the next request.
        request = nil
        handshake = nil
        details = nil
        admission = nil
    }
}
