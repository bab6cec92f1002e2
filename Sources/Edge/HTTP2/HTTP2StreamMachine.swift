import HTTPWire
import NIOHTTP2

/// One stream of HTTP/2 as a value (RFC 9113 section 5.1): what the client's frames mean, and which frames answer them.
///
/// A stream has two halves, which end apart from each other: the client's request, and the answer. Events return what
/// is to be done at once, because the order of frames is the order of calls. The machine uses no channel and no clock.
struct HTTP2StreamMachine {
    /// How far the client's half has come.
    enum Request: Equatable {
        /// Its head has not come.
        case awaited
        /// More of it may come.
        case open
        /// HTTP/2's own rules forbid its head, and more of it may come: that is ignored, and the stream is reset after
        /// the answer.
        case malformed
        /// The client has ended its half.
        case complete
    }

    /// How far the answer has come.
    enum Answer: Equatable {
        /// Nothing but interim answers has been written.
        case awaited
        /// The head has been written, and a body follows.
        case body
        /// The head, which ends the stream, is held until the answer ends.
        case headHeld
        /// The tunnel is open.
        case tunnel
        /// The frame that ends the stream has been written. It may have to wait for the client's window.
        case ending
        /// That frame has been sent.
        case ended
        /// The stream has been reset.
        case reset
    }

    private(set) var request = Request.awaited
    private(set) var answer = Answer.awaited
    /// Whether DATA is the bytes of a tunnel: an extended CONNECT (RFC 8441) until it is refused.
    private(set) var isTunnel = false

    // MARK: The client's frames

    /// What the connection is told of a frame.
    enum Delivery {
        case nothing
        /// The head of the request. Where `isWhole`, no body follows. Where `isClosed`, the client has ended its side of the
        /// tunnel that it asks for.
        indirect case head(RequestHead, isWhole: Bool, isClosed: Bool)
        /// The head can't be read as a request. Without an error, HTTP/2's own rules forbid it.
        case unreadableHead(WireError?, isHead: Bool)
        /// The request is complete, or is malformed by its trailers.
        case end(WireError?)
        /// The client has ended its side of the tunnel.
        case inputClosed
    }

    /// Whether the next HEADERS are the request's; any others are trailers.
    var awaitsHead: Bool { request == .awaited }

    /// The first HEADERS have come.
    ///
    /// - Parameter endsStream: whether the client has ended its half with them.
    mutating func received(_ head: HTTP2Request, endsStream: Bool) -> Delivery {
        guard request == .awaited else { return .nothing }
        request = endsStream ? .complete : .open
        switch head {
        case .request(let head, let isTunnel):
            self.isTunnel = isTunnel
            return .head(head, isWhole: endsStream, isClosed: isTunnel && endsStream)
        case .refused(let error, let isHead):
            // It is answered like a malformed head over HTTP/1.1 (RFC 9113 section 8.1.1).
            if error == nil, !endsStream { request = .malformed }
            return .unreadableHead(error, isHead: isHead)
        }
    }

    /// Whether DATA is passed on.
    var takesData: Bool { request == .open }

    /// DATA or trailers have ended the client's half.
    ///
    /// - Parameter fault: what is wrong with the trailers.
    mutating func receivedEnd(_ fault: WireError? = nil) -> Delivery {
        guard request == .open else { return .nothing }
        request = .complete
        return isTunnel ? .inputClosed : .end(fault)
    }

    // MARK: The answer

    /// Whether a 1xx answer may be written.
    var takesInterim: Bool { answer == .awaited }

    /// What happens with the head of an answer.
    enum Start: Equatable {
        case nothing
        /// It is written, and a body follows.
        case write
        /// It ends the stream. That closes the stream as it is written, and what answers would be told that its client
        /// has gone: so it is held until ``finishAnswer()``.
        case hold
        /// It would tell the client that its tunnel is open (RFC 8441 section 5): 501 is written instead, and then a
        /// reset.
        case refuseTunnel
    }

    /// The answer begins. To an extended CONNECT, anything but a 2xx refuses the tunnel.
    ///
    /// - Parameter endsStream: whether no body follows.
    mutating func startAnswer(status: Int, endsStream: Bool) -> Start {
        guard answer == .awaited else { return .nothing }
        defer { isTunnel = false }
        if isTunnel, (200..<300).contains(status) {
            answer = .reset
            return .refuseTunnel
        }
        answer = endsStream ? .headHeld : .body
        return endsStream ? .hold : .write
    }

    /// The tunnel is opened. Returns whether the stream can still become one.
    mutating func openTunnel() -> Bool {
        guard isTunnel, answer == .awaited else { return false }
        answer = .tunnel
        return true
    }

    /// Whether bytes are written as DATA.
    var takesBody: Bool { answer == .body || answer == .tunnel }

    /// Which frame ends the answer.
    enum LastFrame: Equatable {
        case none
        /// The head that is held.
        case head
        /// Empty DATA with END_STREAM.
        case emptyData
    }

    /// The answer or the tunnel ends.
    mutating func finishAnswer() -> LastFrame {
        switch answer {
        case .headHeld:
            answer = .ending
            return .head
        case .body, .tunnel:
            answer = .ending
            return .emptyData
        case .awaited, .ending, .ended, .reset: return .none
        }
    }

    /// The frame that ends the stream has been sent.
    mutating func lastFrameSent() {
        if answer == .ending { answer = .ended }
    }

    // MARK: The end

    /// How a stream is closed.
    enum Close: Equatable {
        /// The tunnel has ended already; the client may still end its side.
        case nothing
        /// The tunnel is ended by END_STREAM (RFC 8441 section 5). Where `closesSoon`, the stream is closed once that
        /// has been sent, or after a moment.
        case endTunnel(closesSoon: Bool)
        /// The stream is closed, after a reset if there is a code.
        case close(HTTP2ErrorCode?)
    }

    /// The stream is to be closed: cleanly after a complete answer, else with CANCEL, and with PROTOCOL_ERROR where a
    /// malformed request was not complete.
    ///
    /// - Parameter outputOnly: whether only the gateway's half is; that exists for tunnels alone.
    mutating func close(outputOnly: Bool) -> Close {
        if answer == .tunnel {
            answer = .ending
            return .endTunnel(closesSoon: !outputOnly)
        }
        if isTunnel, outputOnly, answer != .awaited { return .nothing }
        let code: HTTP2ErrorCode? =
            switch (request, answer) {
            case (_, .reset): nil
            case (.malformed, _): .protocolError
            case (_, .awaited), (_, .body), (_, .headHeld), (_, .tunnel): .cancel
            // The answer is complete, and no more of the request is read (RFC 9113 section 8.1).
            case (.awaited, .ended), (.open, .ended): .noError
            case (_, .ending), (.complete, .ended): nil
            }
        if code != nil { answer = .reset }
        return .close(code)
    }
}
