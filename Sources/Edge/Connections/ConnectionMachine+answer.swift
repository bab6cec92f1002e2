import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// What the side that answers does.
extension ConnectionMachine {
    /// What the encoder of an answer has to know.
    struct AnswerTerms: Equatable {
        /// How the end of the body is shown.
        var framing: ResponseFraming
        /// Whether the connection is closed after the answer.
        var closes: Bool
        /// Whether the request was HTTP/1.0, whose clients know no chunks and have to be told that the connection stays
        /// open.
        var isVersion10: Bool
        /// Whether the request was a HEAD: then no body is written, regardless of the framing.
        var isHead: Bool
    }

    /// The request has been dispatched. Called once for each ``Action/dispatch(_:)``.
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

    /// At most once for a request, and not after its body has begun (RFC 9110 section 10.1.1).
    ///
    /// - Returns: Whether the client waits for 100 (Continue) and is to be sent it now.
    mutating func sendContinue() -> Bool {
        guard case .request(var request) = state, request.isAwaitingContinue, request.answer == .none else {
            return false
        }
        request.isAwaitingContinue = false
        state = .request(request)
        return true
    }

    /// HTTP/1.0 has no interim answers (RFC 9110 section 15.2).
    ///
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

    /// The answer begins; nil where none can. Decides whether the connection is closed after the answer: while the
    /// gateway stops, where the client has ended its side, where a body that it announced may still come, and for
    /// HTTP/1.0 where the body's end is the connection's end.
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

    /// The answer is complete. Returns whether it had begun, so that its end is to be written. The rest of the
    /// request's body is read and dropped from here on, up to ``maxDiscarded``, where the connection stays open. It has
    /// one time limit for all of it, since nothing else would end a body that comes byte by byte.
    mutating func finishAnswer() -> Bool {
        guard case .request(var request) = state, case .started = request.answer else { return false }
        request.answer = .done
        request.hasExchange = false
        request.isBodyPaused = false
        state = .request(request)
        if !request.isBodyComplete, request.keepsAlive, case .nothing = due { due = .arm(.idle) }
        return true
    }

    /// The answer can't be completed. The connection is closed at once, so that the client can see that the answer is
    /// incomplete.
    mutating func abortAnswer() { close() }

    /// What happens with a problem: it is answered, or it aborts the answer that has begun, or it is dropped. An answer
    /// that has begun can't be taken back.
    enum Refusal { case answer, abort, none }

    /// What is to happen with a problem that occurs now.
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

    /// The request waits to become a tunnel. A client that has closed its side, which no tunnel survives, waits for
    /// none.
    mutating func expectTunnel() {
        guard case .request(var request) = state else { return }
        if isInputClosed { return close() }
        request.expectsTunnel = true
        state = .request(request)
    }

    /// No more of the body is given to the exchange; bytes that arrive wait in ``inbound``.
    mutating func pauseBody() { setPaused(true) }

    /// The body is given to the exchange again, by the actions that follow.
    mutating func resumeBody() { setPaused(false) }

    private mutating func setPaused(_ isPaused: Bool) {
        guard case .request(var request) = state, request.answer != .done else { return }
        request.isBodyPaused = isPaused
        state = .request(request)
    }

    /// The connection's bytes belong to a tunnel from here on. Nothing of the connection is read as HTTP any more, and
    /// ``next()`` gives no action but those of closing.
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

    /// Whether the connection has been switched to a tunnel.
    var isTunnel: Bool {
        if case .tunnel = state { true } else { false }
    }

    /// Whether the connection is closed, or is to be closed by the next action.
    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Whether the gateway is stopping.
    var mustDrain: Bool { isDraining }

    /// Whether more bytes can be processed now. For a tunnel, the tunnel says so. While a request is answered, at most
    /// ``maxPipelined`` bytes of the next ones are read.
    var wantsBytes: Bool {
        switch state {
        case .head, .lingering, .closed, .tunnel: true
        case .request(let request):
            // What follows a request without a body is the next one, also where its end has not been given yet.
            request.isBodyComplete || !request.hasBody
                ? inbound.readableBytes < Self.maxPipelined : !request.isBodyPaused
        }
    }

    /// Whether the request being answered is the last: the client has ended its side after it.
    func isLast(_ request: Request) -> Bool {
        isInputClosed && request.isBodyComplete && inbound.readableBytes == 0
    }
}
