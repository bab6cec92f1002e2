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
    private enum BodySource {
        /// Bytes as HTTP/1.1 frames them.
        case framed(BodyDecoder)
        /// All bytes belong to the body, until the client ends its stream.
        case stream
    }

    private enum Answer: Equatable {
        case none
        case started(ResponseFraming)
        case done
    }

    /// Why a request can't be read to its end.
    private enum Failure {
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
    private struct Request {
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

    private struct Lingering {
        var discardBudget = ConnectionMachine.maxLingering
        var isOutputClosed = false
        /// Whether the client has sent all of its last request.
        var isInputComplete: Bool
    }

    private enum State {
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

    private let isStream: Bool
    private var state = State.head
    private var scanner: HeadScanner
    /// The bytes that have arrived and were not taken yet.
    private(set) var inbound = ByteBuffer()
    /// The head of an HTTP/2 stream's request, until it is dispatched.
    private var streamHead: RequestHead?
    private var hasStreamEnded = false
    /// What is wrong with the trailers that ended it.
    private var streamFault: WireError?
    private var isInputClosed = false
    private var isDraining = false
    private var isHeadTimed = false
    private var isCloseDue = false
    private var isOutputCloseDue = false
    private var dueTimer: Timer?

    /// - Parameter isStream: whether this is a stream of HTTP/2, which carries one request whose head and body come
    ///   separately.
    init(limits: WireLimits, isStream: Bool) {
        self.isStream = isStream
        self.scanner = HeadScanner(limits: limits)
    }
}

// MARK: - What the client does

extension ConnectionMachine {
    /// Bytes of a connection, or of the body of a stream. A tunnel's bytes do not come here.
    mutating func received(_ bytes: ByteBuffer) {
        switch state {
        case .head, .request:
            var bytes = bytes
            if inbound.readableBytes == 0 { inbound = bytes } else { inbound.writeBuffer(&bytes) }
        case .lingering(var lingering):
            lingering.discardBudget -= bytes.readableBytes
            state = .lingering(lingering)
            if lingering.discardBudget < 0 { close() }
        case .tunnel, .closed: break
        }
    }

    /// The head of a stream's request.
    ///
    /// - Parameter isWhole: whether no body follows.
    mutating func received(head: RequestHead, isWhole: Bool) {
        guard case .head = state, streamHead == nil else { return }
        streamHead = head
        hasStreamEnded = isWhole
    }

    /// The head of a stream's request is malformed or too long.
    ///
    /// - Parameters:
    ///   - error: what is wrong; nil where HTTP/2's own rules forbid the head.
    ///   - isHead: whether it was a HEAD, whose answer never has a body.
    mutating func receivedUnreadableHead(_ error: WireError?, isHead: Bool) {
        guard case .head = state else { return }
        refuse(error.map { .head($0) } ?? .http2Head, isHead: isHead)
    }

    /// A stream's request is complete.
    ///
    /// - Parameter fault: what is wrong with its trailers.
    mutating func receivedEnd(_ fault: WireError? = nil) {
        hasStreamEnded = true
        streamFault = fault
        guard case .lingering(var lingering) = state else { return }
        lingering.isInputComplete = true
        state = .lingering(lingering)
        if lingering.isOutputClosed { close() }
    }

    /// The client has closed its side.
    mutating func inputClosed() {
        isInputClosed = true
        switch state {
        case .tunnel: close()
        case .lingering(let lingering): if lingering.isOutputClosed { close() }
        case .request(let request):
            // A client may shut down its side and wait for its answers. One that has closed its socket looks the same
            // until the next write fails; a stream that may have nothing to write must not wait for that.
            if request.isBodyComplete, request.answer == .started(.stream) { dueTimer = .moment }
        case .head, .closed: break
        }
    }

    /// - Parameter clientTakes: whether the channel takes more bytes. A client that does not read has used up its time.
    mutating func deadlinePassed(clientTakes: Bool) {
        switch state {
        case .head:
            if inbound.readableBytes > 0 || scanner.isInsideHead { refuse(.headLate) } else { close() }
        case .request(let request): deadlinePassed(in: request, clientTakes)
        case .lingering: close()
        case .tunnel, .closed: break
        }
    }

    private mutating func deadlinePassed(in request: Request, _ clientTakes: Bool) {
        if request.isBodyComplete {
            let isSilentStream = isInputClosed && request.answer == .started(.stream)
            // The upstream has a time limit of its own.
            if !clientTakes || isSilentStream { close() } else { dueTimer = .idle }
        } else if request.isBodyPaused {
            dueTimer = .idle
        } else if request.hasExchange, request.answer == .none {
            var request = request
            request.fail(.bodyLate)
            state = .request(request)
        } else {
            close()
        }
    }

    /// The gateway stops: an idle connection is closed now, any other after its answer.
    mutating func drain() {
        isDraining = true
        switch state {
        case .head: close()
        case .request(var request):
            request.keepsAlive = false
            state = .request(request)
        case .tunnel, .lingering, .closed: break
        }
    }

    /// The channel is closed or has failed.
    mutating func gone() {
        state = .closed
        inbound = ByteBuffer()
        isCloseDue = false
    }

    /// The last byte has been sent, after ``Action/finishOutput``.
    mutating func outputFinished() {
        guard case .lingering(var lingering) = state else { return }
        if isInputClosed || (isStream && lingering.isInputComplete) { return close() }
        lingering.isOutputClosed = true
        state = .lingering(lingering)
        dueTimer = .moment
        // A stream has ended with its answer. A client that still sends gets a moment to notice.
        isOutputCloseDue = !isStream
    }
}

// MARK: - What answers

extension ConnectionMachine {
    /// What the encoder of an answer has to know.
    struct AnswerTerms: Equatable {
        var framing: ResponseFraming
        /// Whether the connection is closed after the answer.
        var closes: Bool
        var isVersion10: Bool
        /// Whether the request was a HEAD: then no body is written, regardless of the framing.
        var isHead: Bool
    }

    /// The request has been dispatched.
    ///
    /// - Parameter hasExchange: whether there is an exchange that takes the body; false where the answer has already
    ///   been given.
    /// - Returns: Whether the exchange may start. If not, no answer is possible any more.
    mutating func dispatched(hasExchange: Bool) -> Bool {
        guard case .request(var request) = state, !request.isBodyComplete, request.answer != .done else { return false }
        request.hasExchange = hasExchange
        state = .request(request)
        return true
    }

    /// - Returns: Whether the client waits for 100 (Continue) and is to be sent it now.
    mutating func sendContinue() -> Bool {
        guard case .request(var request) = state, request.isAwaitingContinue, request.answer == .none else {
            return false
        }
        request.isAwaitingContinue = false
        state = .request(request)
        return true
    }

    /// - Parameter isContinue: whether it is a 100. After any other interim answer the client still waits before it
    ///   sends its body.
    /// - Returns: Whether an interim answer may be written.
    mutating func sendInterim(isContinue: Bool) -> Bool {
        guard case .request(var request) = state, request.answer == .none, !request.isVersion10 else { return false }
        if isContinue {
            request.isAwaitingContinue = false
            state = .request(request)
        }
        return true
    }

    /// The answer begins; nil where none can.
    mutating func startAnswer(_ framing: ResponseFraming) -> AnswerTerms? {
        guard case .request(var request) = state, request.answer == .none else { return nil }
        let isUnread = request.isAwaitingContinue && !request.isBodyComplete
        if isDraining || isUnread || isLast(request) || (request.isVersion10 && framing == .stream) {
            request.keepsAlive = false
        }
        request.answer = .started(framing)
        state = .request(request)
        return AnswerTerms(
            framing: framing, closes: !request.keepsAlive, isVersion10: request.isVersion10, isHead: request.isHead)
    }

    /// Whether a part of the answer's body is to be written.
    var takesAnswerBody: Bool {
        guard case .request(let request) = state, case .started = request.answer else { return false }
        return !request.isHead
    }

    /// The answer is complete. Returns whether it had begun, so that its end is to be written.
    mutating func finishAnswer() -> Bool {
        guard case .request(var request) = state, case .started = request.answer else { return false }
        request.answer = .done
        request.hasExchange = false
        request.isBodyPaused = false
        state = .request(request)
        return true
    }

    /// The answer can't be completed.
    mutating func abortAnswer() { close() }

    /// What happens with a problem: it is answered, or it aborts the answer that has begun, or it is dropped.
    enum Refusal { case answer, abort, none }

    var refusal: Refusal {
        switch state {
        case .request(let request): request.answer == .none ? .answer : .abort
        case .lingering: .abort
        case .head, .tunnel, .closed: .none
        }
    }

    /// From here on the connection is closed after the current answer.
    mutating func closeAfterAnswer() {
        guard case .request(var request) = state else { return }
        request.keepsAlive = false
        state = .request(request)
    }

    mutating func pauseBody() { setPaused(true) }

    mutating func resumeBody() { setPaused(false) }

    private mutating func setPaused(_ isPaused: Bool) {
        guard case .request(var request) = state, request.answer != .done else { return }
        request.isBodyPaused = isPaused
        state = .request(request)
    }

    /// The connection's bytes belong to a tunnel from here on.
    ///
    /// - Returns: The bytes that have arrived after the request; nil where the connection can't be switched.
    mutating func switchProtocols() -> ByteBuffer? {
        guard case .request(let request) = state, request.answer == .none else { return nil }
        state = .tunnel
        let early = inbound
        inbound = ByteBuffer()
        if isInputClosed { close() }
        return early
    }

    var isTunnel: Bool {
        if case .tunnel = state { true } else { false }
    }

    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Whether the gateway is stopping.
    var mustDrain: Bool { isDraining }

    /// Whether more bytes can be processed now. For a tunnel, the tunnel says so.
    var wantsBytes: Bool {
        switch state {
        case .head, .lingering, .closed, .tunnel: true
        case .request(let request):
            request.isBodyComplete ? inbound.readableBytes < Self.maxPipelined : !request.isBodyPaused
        }
    }

    /// Whether the request being answered is the last: the client has ended its side after it.
    private func isLast(_ request: Request) -> Bool {
        isInputClosed && request.isBodyComplete && inbound.readableBytes == 0
    }
}

// MARK: - What is due

extension ConnectionMachine {
    /// The one action that is due; nil until something happens.
    mutating func next() -> Action? {
        if isCloseDue {
            isCloseDue = false
            return .close
        }
        if let timer = dueTimer {
            dueTimer = nil
            return .arm(timer)
        }
        if isOutputCloseDue {
            isOutputCloseDue = false
            return .closeOutput
        }
        switch state {
        case .head: return nextOfHead()
        case .request(var request):
            // Taken out while it is changed, so that it is not copied.
            state = .closed
            let step = step(&request)
            state = .request(request)
            switch step {
            case .wait: return dueTimer.take().map { .arm($0) }
            case .act(let action): return action
            case .linger: return linger(isInputComplete: request.isBodyComplete)
            case .close:
                close()
                isCloseDue = false
                return .close
            case .nextHead:
                beginHead()
                return .arm(inbound.readableBytes > 0 ? .head : .idle)
            }
        case .tunnel, .lingering, .closed: return nil
        }
    }

    private mutating func nextOfHead() -> Action? {
        if let head = streamHead.take() { return begin(head) }
        guard !isStream else { return nil }
        guard inbound.readableBytes > 0 else {
            return isInputClosed ? linger(isInputComplete: true) : nil
        }
        switch scanner.feed(&inbound) {
        case .head(let head): return begin(head)
        case .failed(let error):
            refuse(.head(error))
            return next()
        case .needMoreData:
            // The answers to earlier requests may not have been sent completely yet.
            if isInputClosed { return linger(isInputComplete: true) }
            guard !isHeadTimed else { return nil }
            isHeadTimed = true
            return .arm(.headAtMost)
        }
    }

    private mutating func begin(_ head: RequestHead) -> Action {
        state = .request(
            Request(
                isHead: head.knownMethod == .head, isVersion10: head.versionMinor == 0,
                // A stream carries one request and ends with its answer.
                keepsAlive: head.keepAlive && !isStream, isAwaitingContinue: head.expectContinue,
                body: isStream && head.framing != .none ? .stream : .framed(BodyDecoder(head.framing))))
        return .dispatch(head)
    }

    private enum Step {
        case wait
        case act(Action)
        case linger
        case close
        case nextHead
    }

    private mutating func step(_ request: inout Request) -> Step {
        while true {
            if let failure = request.failure { return step(&request, of: failure) }
            if request.answer == .done, let step = stepBehindAnswer(request) { return step }
            guard !request.isBodyComplete, !request.isBodyPaused || !request.hasExchange else { return .wait }
            switch takeBody(of: &request) {
            case .data(let part):
                request.isAwaitingContinue = false
                if request.hasExchange { return .act(.giveBody(part)) }
                dueTimer = .idle
                request.discardBudget -= part.readableBytes
                if request.discardBudget < 0 { return .linger }
            case .end:
                request.isBodyComplete = true
                if request.hasExchange { return .act(.giveEnd) }
            case .failed(let error): request.fail(.body(error))
            case .needMoreData:
                guard isInputClosed else { return .wait }
                request.fail(.bodyCut)
            }
        }
    }

    private func step(_ request: inout Request, of failure: Failure) -> Step {
        if request.hasExchange {
            request.hasExchange = false
            return .act(.dropExchange)
        }
        request.failure = nil
        switch request.answer {
        case .none: return .act(failure.isOfHead ? .refuse(failure.problem) : .respond(failure.problem))
        case .started: return .close
        case .done: return .linger
        }
    }

    /// The step after a complete answer; nil while the rest of its request still has to be read.
    private func stepBehindAnswer(_ request: Request) -> Step? {
        guard request.keepsAlive else { return .linger }
        if request.isBodyComplete { return isDraining || isLast(request) ? .linger : .nextHead }
        // The client may or may not send the body it announced, so the next request needs a new connection.
        return request.isAwaitingContinue ? .linger : nil
    }

    private mutating func takeBody(of request: inout Request) -> BodyEvent {
        switch request.body {
        case .framed(var decoder):
            request.body = .stream
            let event = decoder.next(&inbound, maxSlice: Self.maxPart)
            request.body = .framed(decoder)
            return event
        case .stream:
            let count = min(inbound.readableBytes, Self.maxPart)
            if count > 0, let part = inbound.readSlice(length: count) { return .data(part) }
            guard hasStreamEnded else { return .needMoreData }
            return streamFault.map { .failed($0) } ?? .end
        }
    }

    private mutating func beginHead() {
        state = .head
        isHeadTimed = false
        // The next bytes get a buffer of their own: the storage of this one belongs to the request that is over.
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
    }

    private mutating func refuse(_ failure: Failure, isHead: Bool = false) {
        var request = Request(isHead: isHead)
        request.fail(failure)
        state = .request(request)
    }

    private mutating func linger(isInputComplete: Bool) -> Action {
        state = .lingering(Lingering(isInputComplete: isInputComplete))
        inbound = ByteBuffer()
        dueTimer = nil
        return .finishOutput
    }

    private mutating func close() {
        if case .closed = state { return }
        state = .closed
        inbound = ByteBuffer()
        dueTimer = nil
        isOutputCloseDue = false
        isCloseDue = true
    }
}
