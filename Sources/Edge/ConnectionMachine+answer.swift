import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// What the side that answers does.
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
    func isLast(_ request: Request) -> Bool {
        isInputClosed && request.isBodyComplete && inbound.readableBytes == 0
    }
}
