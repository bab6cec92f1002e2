import HTTPWire
import NIOCore

/// Whoever answers one request. Every call comes on the connection's event loop.
///
/// The connection hands over the body part by part and tells when the client can take more or has gone; the exchange
/// answers through the connection's `ResponseWriter` side.
protocol Exchange: AnyObject {
    /// The exchange holds the request from here on. Called once, before anything else: what it starts may ask for the
    /// body at once.
    func start()
    /// A part of the request's body, already freed of its framing.
    func received(body: ByteBuffer)
    /// The request's body is complete.
    func receivedEnd()
    /// The client's channel has become writable again.
    func clientBecameWritable()
    /// The client has gone, or its message turned out malformed: nothing more can be answered.
    func clientGone()
    /// Whether the gateway itself answers `Expect: 100-continue` (the API), rather than the upstream.
    var wantsContinueFromGateway: Bool { get }
}

extension Exchange {
    func start() {}
}

/// How the body of an answer is delimited.
enum ResponseFraming: Equatable {
    /// No body at all (HEAD, 204, 304).
    case none
    case length(Int64)
    /// Unknown length: chunked to HTTP/1.1 clients, until close to HTTP/1.0 ones.
    case stream

    /// How a client is told of the end of an upstream's answer.
    init(of head: ResponseHead) {
        switch head.framing {
        case .none: self = .none
        case .length(let count): self = .length(count)
        case .chunked, .untilClose: self = .stream
        }
    }
}

/// The answering side of a connection, for the exchange that holds the current request.
///
/// Order of calls: any number of `sendInterim`, one `startResponse`, any number of `sendBody`, one `finishResponse`;
/// or `abortResponse` at any point. Calls after the client has gone do nothing.
protocol ResponseWriter: AnyObject {
    var channel: any Channel { get }
    var eventLoop: any EventLoop { get }
    /// For the time limits of whoever answers; rests between two requests.
    var exchangeDeadline: ConnectionDeadline { get }
    /// The time limits of the loop.
    var deadlines: DeadlineWheel { get }
    /// The current time, as `Date` says it.
    var date: String { get }
    /// Whether the client's channel takes more bytes now.
    var isClientWritable: Bool { get }
    /// Whether any 2xx would tell a client that its upgrade was taken: so it is over HTTP/2 (RFC 8441 section 5).
    var opensTunnelOnSuccess: Bool { get }
    /// Whether field values may be any bytes. Over HTTP/2 they are text here, and others could only be changed.
    var takesAnyBytes: Bool { get }
    /// Writes `head`: status line and fields, each ended by CRLF, without framing fields, `Connection` and the empty line,
    /// which the connection adds.
    func startResponse(_ head: consuming ByteBuffer, framing: ResponseFraming)
    func sendBody(_ bytes: ByteBuffer)
    func flushResponse()
    func finishResponse()
    /// Ends the connection (over HTTP/2: the stream, with CANCEL) without completing the answer.
    func abortResponse()
    /// A 1xx answer, whole, with its empty line.
    func sendInterim(_ head: ByteBuffer, isContinue: Bool)
    /// Answers with a problem, if no answer has begun; else aborts.
    func respond(_ problem: Problem)
    /// Stops and resumes the flow of the request's body.
    func pauseBody()
    func resumeBody()
    /// Whether the connection has failed, and not been closed in order.
    var wasReset: Bool { get }
    /// Writes `head` (a whole 101 answer with its empty line) and gives the connection's bytes to `tunnel` from here on.
    func switchProtocols(_ head: ByteBuffer, to tunnel: any Tunnel)
    /// The same as writing to and flushing the channel, without the way through its pipeline.
    func writeTunnel(_ bytes: ByteBuffer)
    func flushTunnel()
    /// The same, without waiting for the loop to be through with what has arrived.
    func flushTunnelNow()
}

/// What a connection becomes after `101 Switching Protocols`. Every call comes on the connection's event loop.
protocol Tunnel: AnyObject {
    /// The 101 has been written; `received` follows, first with what came behind the request.
    func opened(on channel: any Channel)
    func received(_ bytes: ByteBuffer)
    /// A burst of reads is over: the time to flush.
    func receivedAll()
    func clientBecameWritable()
    /// The client's side is closed. Called once.
    func clientGone()
    /// The gateway is stopping: say goodbye (1001) and close.
    func drain()
    /// Whether the tunnel takes more of the client's bytes now; when it becomes true again the tunnel reads the channel.
    var wantsBytes: Bool { get }
}

/// What of a request the exchanges and sockets need to know besides its head.
final class EdgeRequest {
    let head: RequestHead
    /// The one canonical path: matched, authorised and forwarded.
    let path: [UInt8]
    /// The query as the client sent it, without `?`; nil when there is none.
    let query: [UInt8]?
    let requestID: RequestID
    /// When its head was complete, in ms since the epoch.
    let receivedAt: Int64
    /// The client's address after trusted proxies, as text without port.
    let clientAddress: String
    /// Whether the client came over TLS (here or at a trusted proxy).
    let isSecure: Bool
    let cookieMode: CookieMode
    /// `Host` as it was sent, for `X-Forwarded-Host`.
    let host: String
    /// The host the client asked for, as far as a trusted proxy says so; else `host`.
    let forwardedHost: String
    /// What `X-Forwarded-For` says to upstreams.
    let forwardedFor: String
    unowned let loop: LoopState

    var id: String { requestID.text }

    init(
        head: RequestHead, path: [UInt8], query: [UInt8]?, requestID: RequestID, clientAddress: String, isSecure: Bool,
        cookieMode: CookieMode, host: String, forwardedHost: String, forwardedFor: String, loop: LoopState
    ) {
        self.head = head
        self.path = path
        self.query = query
        self.requestID = requestID
        self.receivedAt = loop.now()
        self.clientAddress = clientAddress
        self.isSecure = isSecure
        self.cookieMode = cookieMode
        self.host = host
        self.forwardedHost = forwardedHost
        self.forwardedFor = forwardedFor
        self.loop = loop
    }
}
