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
        if !hasExchange { request.letGo() }
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
    ///
    /// - Parameter isStopping: whether the gateway stops, also where this connection has not been told yet: its client
    ///   learns with this answer that it is the last.
    mutating func startAnswer(_ framing: ResponseFraming, isStopping: Bool = false) -> AnswerTerms? {
        guard case .request(var request) = state, request.answer == .none else { return nil }
        let isUnread = request.isAwaitingContinue && !request.isBodyComplete
        if isStopping || isUnread || isLast(request) || (request.isVersion10 && framing == .stream) {
            request.close()
        }
        request.answer = .started(framing)
        state = .request(request)
        return AnswerTerms(
            framing: framing, closes: request.sequel != .nextHead, isVersion10: request.isVersion10,
            isHead: request.isHead)
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
        request.letGo()
        state = .request(request)
        if !request.isBodyComplete, request.sequel == .nextHead, timer == nil { timer = .idle }
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
        request.close()
        state = .request(request)
    }

    /// The request waits to become a tunnel. A client that has closed its side, which no tunnel survives, waits for
    /// none.
    mutating func expectTunnel() {
        guard case .request(var request) = state else { return }
        if request.isInputClosed { return close() }
        request.expectsTunnel = true
        state = .request(request)
    }

    /// No more of the body is given to the exchange; bytes that arrive wait in ``inbound``.
    mutating func pauseBody() { setPaused(true) }

    /// The body is given to the exchange again, by the actions that follow.
    mutating func resumeBody() { setPaused(false) }

    private mutating func setPaused(_ isPaused: Bool) {
        guard case .request(var request) = state, case .given = request.body else { return }
        request.body = .given(isPaused: isPaused)
        state = .request(request)
    }

    /// The connection's bytes belong to a tunnel from here on. Nothing of the connection is read as HTTP any more, and
    /// ``next()`` gives no action but that of closing.
    ///
    /// - Returns: the bytes that have arrived after the request, and whether the gateway is stopping; nil where the
    ///   connection can't be switched.
    mutating func switchProtocols() -> (early: ByteBuffer, isDraining: Bool)? {
        guard case .request(let request) = state, request.answer == .none else { return nil }
        let early = inbound
        state = .tunnel
        inbound = ByteBuffer()
        timer = nil
        if request.isInputClosed { close() }
        return (early, request.sequel == .drained)
    }

    /// Whether the connection has been switched to a tunnel.
    var isTunnel: Bool {
        if case .tunnel = state { true } else { false }
    }

    /// Whether the connection is closed, or is to be closed by the next action.
    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Whether the gateway is stopping, as far as the connection has been told: for a tunnel, which is told itself, and
    /// for a connection that ends anyway, false.
    var isDraining: Bool {
        switch state {
        case .head(let head): head.isDraining
        case .request(let request): request.sequel == .drained
        case .tunnel, .lingering, .closed: false
        }
    }

    /// Whether more bytes can be processed now. For a tunnel, the tunnel says so. While a request is answered, at most
    /// ``maxPipelined`` bytes of the next ones are read.
    var wantsBytes: Bool {
        switch state {
        case .head, .lingering, .closed, .tunnel: return true
        case .request(let request):
            // What follows a request without a body is the next one, also where its end has not been given yet.
            if request.isBodyComplete || !request.hasBody { return inbound.readableBytes < Self.maxPipelined }
            if case .given(isPaused: true) = request.body { return false }
            return true
        }
    }

    /// Whether the request being answered is the last: the client has ended its side after it.
    func isLast(_ request: Request) -> Bool {
        request.isInputClosed && request.isBodyComplete && inbound.readableBytes == 0
    }
}
