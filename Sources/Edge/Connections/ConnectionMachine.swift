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
        case stream(StreamInput)
    }

    /// How far the request of an HTTP/2 stream has come.
    enum StreamInput {
        case open
        /// It is complete, or malformed by its trailers.
        case ended(fault: WireError?)
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

    /// Between two requests, or inside a head.
    struct Head {
        /// The head of a stream's request, which has come apart from its bytes.
        enum Arrived {
            case none
            /// `indirect`, since every idle connection would have room for it.
            indirect case waiting(RequestHead, StreamInput)
        }

        /// Whether the connection has had no request yet.
        var isFirst = true
        /// Whether the time limit of the head that has begun is set.
        var isTimed = false
        /// Whether the gateway is stopping.
        var isDraining = false
        /// Whether the client has closed its side.
        var isInputClosed = false
        var arrived = Arrived.none
    }

    /// Where the bytes of a request's body go, and how far it has come.
    enum Body {
        /// To the exchange; while it is paused they wait in ``inbound``.
        case given(isPaused: Bool)
        /// No exchange takes them: so many more are read and dropped.
        case dropped(budget: Int)
        /// It is complete, or is not read any further.
        case complete
        /// It can't be read to its end, which has to be dealt with; the exchange, if there is one, is told first.
        case failed(Failure, hasExchange: Bool)
    }

    /// What follows the answer to a request.
    enum Sequel {
        case nextHead
        /// The connection is closed.
        case close
        /// The connection is closed, because the gateway is stopping.
        case drained
    }

    /// One request and its answer. Each has a new value, so that no state of the previous request can be left over. It
    /// holds no references, so that copying it costs little.
    struct Request {
        var isHead = false
        var isVersion10 = false
        /// Whether the client waits for 100 (Continue) before it sends its body.
        var isAwaitingContinue = false
        /// Whether the request announces a body, even an empty one.
        var hasBody = true
        /// Whether the request waits to become a tunnel.
        var expectsTunnel = false
        /// Whether the client has closed its side.
        var isInputClosed = false
        var sequel = Sequel.close
        var body = Body.given(isPaused: false)
        var answer = Answer.none

        /// Whether no more of the body is read.
        var isBodyComplete: Bool {
            switch body {
            case .complete, .failed: true
            case .given, .dropped: false
            }
        }

        /// No more of the body is read, and the connection takes no other request.
        mutating func fail(_ failure: Failure) {
            close()
            let hasExchange = if case .given = body { true } else { false }
            body = .failed(failure, hasExchange: hasExchange)
        }

        /// The connection takes no other request.
        mutating func close() {
            if sequel == .nextHead { sequel = .close }
        }

        /// The exchange is gone: what is left of the body is dropped.
        mutating func letGo() {
            switch body {
            case .given: body = .dropped(budget: ConnectionMachine.maxDiscarded)
            case .failed(let failure, _): body = .failed(failure, hasExchange: false)
            case .dropped, .complete: break
            }
        }
    }

    /// What is left to do once the last answer is complete.
    struct Lingering {
        /// How far the writing side has come.
        enum Output {
            /// Answers are still being sent. `closesConnection` where the connection has no request, so that it is
            /// closed with them, without waiting for the client.
            case sending(closesConnection: Bool)
            /// The writing side is to be closed, once the client's moment to close its own is set.
            case shutting(isArmed: Bool)
            /// The client has to close its side now.
            case shut
        }

        var discardBudget = ConnectionMachine.maxLingering
        var output: Output
        /// Whether the client has sent all of its last request.
        var isInputComplete: Bool
        /// Whether the client has closed its side.
        var isInputClosed: Bool

        /// Whether the last byte has been sent.
        var isOutputSent: Bool {
            if case .sending = output { false } else { true }
        }
    }

    /// What the bytes of the connection are at the moment.
    enum State {
        case head(Head)
        case request(Request)
        /// The bytes belong to a ``Tunnel``.
        case tunnel
        /// The last answer is being sent. Bytes that arrive are dropped until the client has closed: closing earlier
        /// would reset the connection and destroy the answer.
        case lingering(Lingering)
        /// The connection is closed; `isTold` once the action for that has been given.
        case closed(isTold: Bool)
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
    var state = State.head(Head())
    var scanner: HeadScanner
    /// The bytes that have arrived and were not taken yet.
    var inbound = ByteBuffer()
    /// How the bytes of the current request's body are told; set anew with each request.
    var source = BodySource.stream(.open)
    /// The time limit that is to be set next.
    var timer: Timer?

    /// - Parameter isStream: whether this is a stream of HTTP/2, which carries one request whose head and body come
    ///   separately.
    init(limits: WireLimits, isStream: Bool) {
        self.isStream = isStream
        self.scanner = HeadScanner(limits: limits)
    }

    /// Whether a part of a head has arrived.
    var isInsideHead: Bool { inbound.readableBytes > 0 || scanner.isInsideHead }
}
