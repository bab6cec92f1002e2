import AgentTools
import Answers
import EdgeCore
import Encodings
import Leases
import NIOCore

/// How one request to the tools is answered, as a value: it is told of events, and each returns what is to be done.
///
/// The body is collected, the request judged, and answered with one JSON text or with a stream of events. Nothing
/// happens after the end. The machine uses no channel and no clock; what it must know of the world comes with the
/// event.
struct ToolExchangeMachine {
    enum State: Equatable {
        /// The body is coming.
        case collecting
        /// The request is being judged, and run unless a stream answers it.
        case deciding
        /// A stream is to answer, and nothing of it has been written.
        case opening
        /// Events are sent. Where it `listens`, they are those of the session until its client leaves; else one answer
        /// is waited for.
        case streaming(listens: Bool)
        /// The answer is complete, or was cut off.
        case over
    }

    /// What the exchange has to do. With every action but `decide`, `open` and `comment` the exchange is over: it lets
    /// go of what it holds first.
    enum Action {
        /// Have the request judged, with this body.
        case decide([UInt8])
        /// Take what the stream needs, and say so with ``opened(hasPlace:end:listens:)``.
        case open
        /// Write a comment into the stream, so that proxies in between do not take the connection for dead.
        case comment
        /// Answer with one JSON text, or without a body.
        indirect case answer(status: Int, session: String?, body: JSONValue?)
        /// Answer with a problem. Where it `closes`, the connection is closed after it: the rest of the body is not
        /// read.
        indirect case refuse(Problem, closes: Bool)
        /// End the stream in order.
        case finish
        /// Cut the stream: the client sees that it has not ended in order.
        case abort
        /// No answer is possible any more.
        case release
    }

    private(set) var state = State.collecting
    private var body = BodyCollector(limit: RPCBody.maximumBytes)
    /// How many events were given to the connection and not yet reported to the Runtime as written.
    private var unreported = 0

    // MARK: The request

    /// A part of the body, of which at most `RPCBody.maximumBytes` are taken.
    mutating func received(_ part: ByteBuffer) -> Action? {
        guard state == .collecting else { return nil }
        return body.append(part)
            ? nil : refuse(Problem(.payloadTooLarge, detail: "At most 64 KiB are taken here."), closes: true)
    }

    /// The body is complete.
    ///
    /// - Parameters:
    ///   - isUnreadable: whether it has to be JSON and is not said to be.
    ///   - isRevoked: whether the token has ended. It was judged when the head came, and the body may have taken its
    ///     time.
    mutating func receivedEnd(isUnreadable: Bool, isRevoked: Bool) -> Action? {
        guard state == .collecting else { return nil }
        if isUnreadable {
            return refuse(Problem(.unsupportedMediaType, detail: "Send the body as application/json."))
        }
        if isRevoked { return refuse(Problem(.invalidToken, reason: "revoked")) }
        state = .deciding
        return .decide(body.take())
    }

    /// The time limit has passed: that of the body, or the silence of the stream.
    mutating func deadlinePassed() -> Action? {
        switch state {
        case .collecting:
            refuse(Problem(.badMessage, .late, detail: "The request body did not arrive in time."), closes: true)
        case .streaming: .comment
        case .deciding, .opening, .over: nil
        }
    }

    // MARK: The answer

    /// The request was judged and run.
    ///
    /// - Parameters:
    ///   - status: of the answer.
    ///   - session: what the client is told of a new protocol session.
    ///   - body: nil for an answer without one.
    ///   - isRevoked: whether the token has ended since: running may have taken its time.
    mutating func decided(status: Int, session: String?, body: JSONValue?, isRevoked: Bool) -> Action? {
        guard state == .deciding else { return nil }
        if isRevoked { return refuse(Problem(.invalidToken, reason: "revoked")) }
        state = .over
        return .answer(status: status, session: session, body: body)
    }

    /// The request was judged, and a stream is to answer it.
    ///
    /// - Parameter isRevoked: whether the token has ended since.
    mutating func decidedToStream(isRevoked: Bool) -> Action? {
        guard state == .deciding else { return nil }
        if isRevoked { return refuse(Problem(.invalidToken, reason: "revoked")) }
        state = .opening
        return .open
    }

    /// The request breaks a rule of JSON-RPC: the answer is the error that says so.
    mutating func decided(_ fault: RPCFault, _ era: ToolEra) -> Action? {
        guard state == .deciding else { return nil }
        state = .over
        return .answer(status: fault.status(era), session: nil, body: .object(RPCText.error(fault)))
    }

    /// The request is refused.
    mutating func decided(_ problem: Problem) -> Action? {
        state == .deciding ? refuse(problem) : nil
    }

    // MARK: Streams

    /// What a stream needs was asked for, and nothing of it has been written.
    ///
    /// - Parameters:
    ///   - hasPlace: whether there is room for one more stream of this session and its user.
    ///   - end: why its lease is over already; nil where it is not.
    ///   - listens: whether it is the session's stream.
    mutating func opened(hasPlace: Bool, end: LeaseEnd?, listens: Bool) -> Action? {
        guard state == .opening else { return nil }
        guard hasPlace else {
            return refuse(Problem(.rateLimited, detail: "Too many streams are open.", reason: "socket_cap"))
        }
        if let end { return refuse(Problem(endedBeforeUse: end)) }
        state = .streaming(listens: listens)
        return nil
    }

    /// Whether events can be sent.
    var isStreaming: Bool {
        if case .streaming = state { true } else { false }
    }

    /// The Runtime has sent an event. It has to be told once the client has taken it.
    mutating func tookEvent() {
        if isStreaming { unreported += 1 }
    }

    /// The client takes bytes again. Returns how many events the Runtime is to be told of; 0 for none.
    mutating func clientBecameWritable() -> Int {
        defer { unreported = 0 }
        return isStreaming ? unreported : 0
    }

    /// The last event has been sent, or the Runtime has none any more.
    mutating func streamEnded() -> Action? {
        guard isStreaming else { return nil }
        state = .over
        return .finish
    }

    /// The gateway stops. The session's stream ends in order: its client comes back with the number of the last event
    /// that it has. A call is waited for.
    mutating func gatewayStops() -> Action? {
        guard state == .streaming(listens: true) else { return nil }
        state = .over
        return .finish
    }

    // MARK: The end

    /// The lease of the stream has ended.
    mutating func leaseEnded() -> Action? {
        guard state != .over else { return nil }
        state = .over
        return .abort
    }

    /// No answer is possible any more.
    mutating func clientGone() -> Action? {
        guard state != .over else { return nil }
        state = .over
        return .release
    }

    private mutating func refuse(_ problem: Problem, closes: Bool = false) -> Action {
        state = .over
        return .refuse(problem, closes: closes)
    }
}
