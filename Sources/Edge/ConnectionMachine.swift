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

    enum Action {
        /// A request has begun: find out what answers it, and tell the machine with ``dispatched(hasExchange:)``.
        case dispatch(RequestHead)
        /// Answer a head that could not be read as a request, under a request id of its own.
        case refuse(Problem)
        /// The body can't be read: answer with this problem instead of the exchange.
        case respond(Problem)
        case giveBody(ByteBuffer)
        case giveEnd
        /// Tell the exchange that no answer is possible any more, and release it.
        case dropExchange
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

    enum Answer: Equatable {
        case none
        case started(ResponseFraming)
        case done
    }

    /// Why a request can't be read to its end.
    enum Failure {
        case head(WireError)
        case http2Head
        case headLate
        case body(WireError)
        case bodyLate
        case bodyCut

        var isOfHead: Bool {
            switch self {
            case .head, .http2Head, .headLate: true
            case .body, .bodyLate, .bodyCut: false
            }
        }

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

    /// One request and its answer. Each has a new value, so that no state of the previous request can be left over.
    struct Request {
        var isHead = false
        var isVersion10 = false
        /// Whether the connection takes another request after this one.
        var keepsAlive = false
        /// Whether the client waits for 100 (Continue) before it sends its body.
        var isAwaitingContinue = false
        var body = BodySource.stream
        var isBodyComplete = false
        var isBodyPaused = false
        /// Whether an exchange takes the body. Without one, a bounded part of the body is read and dropped.
        var hasExchange = false
        var discardBudget = ConnectionMachine.maxDiscarded
        var answer = Answer.none
        var failure: Failure?

        mutating func fail(_ failure: Failure) {
            keepsAlive = false
            isBodyComplete = true
            self.failure = failure
        }
    }

    struct Lingering {
        var discardBudget = ConnectionMachine.maxLingering
        var isOutputClosed = false
        /// Whether the client has sent all of its last request.
        var isInputComplete: Bool
        /// Whether the connection is closed with its output, without waiting for the client: it has no request.
        var closesWithOutput = false
    }

    enum State {
        /// Between two requests, or inside a head.
        case head
        case request(Request)
        /// The bytes belong to a ``Tunnel``.
        case tunnel
        /// The last answer is being sent. Bytes that arrive are dropped until the client has closed: closing earlier
        /// would reset the connection and destroy the answer.
        case lingering(Lingering)
        case closed
    }

    /// The most bytes that are read of a body without an exchange.
    static let maxDiscarded = 256 * 1024
    /// The most bytes that are dropped while waiting for the client to close.
    static let maxLingering = 1024 * 1024
    /// The largest part of a body that is given to the exchange at once.
    static let maxPart = 64 * 1024
    /// The most bytes that are read of requests after the one that is being answered.
    static let maxPipelined = 16 * 1024

    let isStream: Bool
    var state = State.head
    var scanner: HeadScanner
    /// The bytes that have arrived and were not taken yet.
    var inbound = ByteBuffer()
    /// The head of an HTTP/2 stream's request, until it is dispatched.
    var streamHead: RequestHead?
    var hasStreamEnded = false
    /// What is wrong with the trailers that ended it.
    var streamFault: WireError?
    var isInputClosed = false
    var isDraining = false
    /// Whether a request has been begun.
    var hasBegun = false
    var isHeadTimed = false
    var isCloseDue = false
    var isOutputCloseDue = false
    var dueTimer: Timer?

    /// - Parameter isStream: whether this is a stream of HTTP/2, which carries one request whose head and body come
    ///   separately.
    init(limits: WireLimits, isStream: Bool) {
        self.isStream = isStream
        self.scanner = HeadScanner(limits: limits)
    }

    /// Whether a part of a head has arrived.
    var isInsideHead: Bool { inbound.readableBytes > 0 || scanner.isInsideHead }
}
