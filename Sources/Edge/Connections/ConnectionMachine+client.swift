import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// What the client does.
extension ConnectionMachine {
    /// Bytes of a connection, or of the body of a stream. A tunnel's bytes do not come here. While the last answer is
    /// being sent they are dropped, and the connection is closed where there are more than ``maxLingering``.
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

    /// The head of a stream's request. Ignored where the stream has had its request.
    ///
    /// - Parameter isWhole: whether no body follows.
    mutating func received(head: RequestHead, isWhole: Bool) {
        guard case .head(var state) = state, case .none = state.arrived else { return }
        state.arrived = .waiting(head, isWhole ? .ended(fault: nil) : .open)
        self.state = .head(state)
    }

    /// The head of a stream's request is malformed or too long. It is answered with a problem, like a malformed head of
    /// HTTP/1.1.
    ///
    /// - Parameters:
    ///   - error: what is wrong; nil where HTTP/2's own rules forbid the head.
    ///   - isHead: whether it was a HEAD, whose answer never has a body.
    mutating func receivedUnreadableHead(_ error: WireError?, isHead: Bool) {
        refuse(error.map { .head($0) } ?? .http2Head, isHead: isHead)
    }

    /// A stream's request is complete.
    ///
    /// - Parameter fault: what is wrong with its trailers.
    mutating func receivedEnd(_ fault: WireError? = nil) {
        switch state {
        case .head(var head):
            guard case .waiting(let arrived, .open) = head.arrived else { return }
            head.arrived = .waiting(arrived, .ended(fault: fault))
            state = .head(head)
        case .request:
            if case .stream(.open) = source { source = .stream(.ended(fault: fault)) }
        case .lingering(var lingering):
            lingering.isInputComplete = true
            state = .lingering(lingering)
            if lingering.isOutputSent { close() }
        case .tunnel, .closed: break
        }
    }

    /// The client has closed its side. Requests that have arrived whole are still answered. A tunnel ends, as does what
    /// waits to become one.
    mutating func inputClosed() {
        switch state {
        case .head(var head):
            head.isInputClosed = true
            state = .head(head)
        case .request(var request):
            request.isInputClosed = true
            state = .request(request)
            // A client may shut down its side and wait for its answers. One that has closed its socket looks the same
            // until the next write fails; a stream that may have nothing to write must not wait for that.
            if request.expectsTunnel, request.answer == .none {
                close()
            } else if request.isBodyComplete, request.answer == .started(.stream) {
                timer = .moment
            }
        case .tunnel: close()
        case .lingering(var lingering):
            lingering.isInputClosed = true
            state = .lingering(lingering)
            if lingering.isOutputSent { close() }
        case .closed: break
        }
    }

    /// The deadline that the last ``Action/arm(_:)`` has set has passed. Inside a head or a body that is 408; a
    /// connection that is idle, or whose client does not read, is closed without an answer. A request that waits for
    /// its upstream gets more time.
    ///
    /// - Parameter clientTakes: whether the channel takes more bytes. A client that does not read has used up its time.
    mutating func deadlinePassed(clientTakes: Bool) {
        switch state {
        case .head:
            if isInsideHead { refuse(.headLate) } else { close() }
        case .request(let request): deadlinePassed(in: request, clientTakes)
        case .lingering: close()
        case .tunnel, .closed: break
        }
    }

    private mutating func deadlinePassed(in request: Request, _ clientTakes: Bool) {
        switch request.body {
        case .complete, .failed:
            let isSilentStream = request.isInputClosed && request.answer == .started(.stream)
            // The upstream has a time limit of its own.
            if !clientTakes || isSilentStream { close() } else { timer = .idle }
        case .given(isPaused: true): timer = .idle
        case .given(isPaused: false) where request.answer == .none:
            var request = request
            request.fail(.bodyLate)
            state = .request(request)
        case .given, .dropped: close()
        }
    }

    /// The gateway stops: an idle connection is closed as soon as its earlier answers have been sent, any other after
    /// its answer. A new connection gets a moment for its request, since the client has connected to send one.
    mutating func drain() {
        switch state {
        case .head(var head):
            if isStream { return close() }
            head.isDraining = true
            state = .head(head)
            if head.isFirst, !isInsideHead { timer = .moment }
        case .request(var request):
            request.sequel = .drained
            state = .request(request)
        case .tunnel, .lingering, .closed: break
        }
    }

    /// The connection is opened while the gateway stops: the same moment for its request. A stream has its request.
    mutating func openedWhileDraining() {
        guard case .head(var head) = state else { return }
        head.isDraining = true
        state = .head(head)
        if !isStream { timer = .moment }
    }

    /// The channel is closed or has failed. Nothing can be written any more.
    mutating func gone() { end(isTold: true) }

    /// The last byte has been sent, after ``Action/finishOutput``. The writing side is closed next, and the client gets
    /// a moment to close its own. Where it has, the connection is closed. To be called once.
    mutating func outputFinished() {
        guard case .lingering(var lingering) = state, case .sending(let closesConnection) = lingering.output else {
            return
        }
        if lingering.isInputClosed || closesConnection || (isStream && lingering.isInputComplete) { return close() }
        // A stream has ended with its answer. A client that still sends gets a moment to notice.
        lingering.output = isStream ? .shut : .shutting(isArmed: false)
        state = .lingering(lingering)
        if isStream { timer = .moment }
    }
}
