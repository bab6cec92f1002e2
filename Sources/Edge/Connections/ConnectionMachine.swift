import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// The client's side of one connection (or of one HTTP/2 stream) as a value: it is told of events, and ``next()`` gives
/// the one action that is due, until none is.
///
/// Requests are answered one after the other in the order of their arrival, each at most once. Bytes of a body are
/// never read as a head, and no request is dispatched or answered once the connection is closed. Events only change the
/// state; an action may cause further events before the next action is asked for. Events of the answering side return
/// what is to be written, because the order of writes is the order of calls.
///
/// The machine uses no channel and no clock: time limits are actions (`arm`) and one event (`deadlinePassed`).
///
/// What the client does is in `ConnectionMachine+client.swift`, what the answering side does in
/// `ConnectionMachine+answer.swift`, and what is due in `ConnectionMachine+next.swift`. Nothing else changes the state.
struct ConnectionMachine {
    /// The time limits that the machine asks for. One deadline is armed at a time; arming it again moves it.
    enum Timer: Equatable {
        /// How long a client may send nothing, or read nothing of its answer.
        case idle
        /// How long a head may take.
        case head
        /// The same, unless an earlier limit is already set.
        case headAtMost
        /// How long a client has to close its side, or to show that it is still there.
        case moment
    }

    /// What the connection has to do. Each action is given once.
    enum Action {
        /// A request has begun: find out what answers it, and tell the machine with ``dispatched(hasExchange:)``.
        indirect case dispatch(RequestHead)
        /// Answer a head that could not be read as a request, under a request id of its own.
        indirect case refuse(Problem)
        /// The body can't be read: answer with this problem instead of the exchange.
        indirect case respond(Problem)
        /// Give the exchange a part of the body, at most ``maxPart`` bytes.
        case giveBody(ByteBuffer)
        /// Tell the exchange that the body is complete.
        case giveEnd
        /// Tell the exchange that no answer is possible any more, and release it.
        case dropExchange
        /// Set the connection's deadline, in place of the one that is set.
        case arm(Timer)
        /// The answers are complete: flush, and call ``outputFinished()`` when the last byte has been sent.
        case finishOutput
        /// Close the writing side alone: a reset would destroy what the client has not read yet.
        case closeOutput
        /// Close at once.
        case close
    }

    /// How the bytes of a body are told from those of the next head.
    enum BodySource {
        /// Bytes as HTTP/1.1 frames them.
        case framed(BodyDecoder)
        /// All bytes belong to the body, until the client ends its stream.
        case stream
    }

    /// How far the answer to a request has come.
    enum Answer: Equatable {
        /// No part of the final answer has been written.
        case none
        /// Its head has been written, or is held for the first part of its body.
        case started(ResponseFraming)
        /// It is complete.
        case done
    }

    /// Why a request can't be read to its end. The causes, and the status that each is answered with where no answer
    /// has begun.
    enum Failure {
        /// The head breaks the grammar or a limit: the parser's status, usually 400, 414 or 431.
        case head(WireError)
        /// HTTP/2's own rules forbid the head (RFC 9113 section 8.1.1): 400.
        case http2Head
        /// The head was not complete within `server.header_timeout`: 408.
        case headLate
        /// The framing of the body or its trailers are malformed: the parser's status.
        case body(WireError)
        /// No part of the body has come for `server.idle_timeout`: 408.
        case bodyLate
        /// The client has closed its side within the body: 400.
        case bodyCut

        /// Whether there is no request yet, so that the answer needs a request id of its own.
        var isOfHead: Bool {
            switch self {
            case .head, .http2Head, .headLate: true
            case .body, .bodyLate, .bodyCut: false
            }
        }

        /// What is answered.
        var problem: Problem {
            switch self {
            case .head(let error), .body(let error): Problem(wire: error)
            case .http2Head: Problem(.badMessage, reason: "http2_head")
            case .headLate: Problem(.badMessage, .late, detail: "The request head did not arrive in time.")
            case .bodyLate: Problem(.badMessage, .late, detail: "The request body did not arrive in time.")
            case .bodyCut: Problem(.badMessage, detail: "The body ended early.")
            }
        }
    }

    /// One request and its answer. Each has a new value, so that no state of the previous request can be left over. It
    /// holds no references, so that copying it costs little.
    struct Request {
        var isHead = false
        var isVersion10 = false
        /// Whether the connection takes another request after this one.
        var keepsAlive = false
        /// Whether the client waits for 100 (Continue) before it sends its body.
        var isAwaitingContinue = false
        /// Whether the request announces a body, even an empty one.
        var hasBody = true
        var isBodyComplete = false
        var isBodyPaused = false
        /// Whether an exchange takes the body. Without one, a bounded part of the body is read and dropped.
        var hasExchange = false
        var discardBudget = ConnectionMachine.maxDiscarded
        var answer = Answer.none
        /// Whether the request waits to become a tunnel.
        var expectsTunnel = false
        /// Why the request can't be read to its end, until that has been dealt with.
        var failure: Failure?

        /// No more of the body is read, and the connection takes no other request.
        mutating func fail(_ failure: Failure) {
            keepsAlive = false
            isBodyComplete = true
            self.failure = failure
        }
    }

    /// What is left to do once the last answer is complete.
    struct Lingering {
        var discardBudget = ConnectionMachine.maxLingering
        var isOutputClosed = false
        /// Whether the client has sent all of its last request.
        var isInputComplete: Bool
        /// Whether the connection is closed with its output, without waiting for the client: it has no request.
        var closesWithOutput = false
    }

    /// What the bytes of the connection are at the moment.
    enum State {
        /// Between two requests, or inside a head; `isTimed` where the time limit of the head that has begun is set.
        case head(isTimed: Bool)
        case request(Request)
        /// The bytes belong to a ``Tunnel``.
        case tunnel
        /// The last answer is being sent. Bytes that arrive are dropped until the client has closed: closing earlier
        /// would reset the connection and destroy the answer.
        case lingering(Lingering)
        /// The connection is closed, or will be by the action that is due.
        case closed
    }

    /// The head of the request of an HTTP/2 stream, which has come apart from its bytes. It is kept elsewhere, since
    /// every idle connection would have room for it.
    enum StreamHead {
        case none
        indirect case waiting(RequestHead)
    }

    /// How far the request of an HTTP/2 stream has come.
    enum StreamInput {
        case open
        /// It is complete, or malformed by its trailers.
        case ended(fault: WireError?)
    }

    /// What is due before anything that the state asks for.
    enum Due {
        case nothing
        case arm(Timer)
        /// Close the writing side, once the client's moment to close its own is set.
        case closeOutput(isArmed: Bool)
        case close
    }

    /// The most bytes that are read of a body without an exchange.
    static let maxDiscarded = 256 * 1024
    /// The most bytes that are dropped while waiting for the client to close.
    static let maxLingering = 1024 * 1024
    /// The largest part of a body that is given to the exchange at once.
    static let maxPart = 64 * 1024
    /// The most bytes that are read of requests after the one that is being answered.
    static let maxPipelined = 16 * 1024

    /// Whether this is a stream of HTTP/2.
    let isStream: Bool
    var state = State.head(isTimed: false)
    var scanner: HeadScanner
    /// The bytes that have arrived and were not taken yet.
    var inbound = ByteBuffer()
    /// How the bytes of the current request's body are told; set anew with each request.
    var body = BodySource.stream
    /// The head of an HTTP/2 stream's request, until it is dispatched.
    var streamHead = StreamHead.none
    var streamInput = StreamInput.open
    /// Whether the client has closed its side.
    var isInputClosed = false
    /// Whether the gateway is stopping.
    var isDraining = false
    /// Whether a request has been begun.
    var hasBegun = false
    var due = Due.nothing

    /// - Parameter isStream: whether this is a stream of HTTP/2, which carries one request whose head and body come
    ///   separately.
    init(limits: WireLimits, isStream: Bool) {
        self.isStream = isStream
        self.scanner = HeadScanner(limits: limits)
    }

    /// Whether a part of a head has arrived.
    var isInsideHead: Bool { inbound.readableBytes > 0 || scanner.isInsideHead }
}
