import HTTPWire
import Leases
import NIOCore

/// The life of a WebSocket that ends in the gateway (RFC 6455), as a value: it is told of bytes, time and the
/// application's requests, and ``next(applicationTakes:clientTakes:)`` gives the one action that is due, until none is.
///
/// A message is decoded only when the application has room for it and the client has room for the answer. At most one
/// Close is sent and nothing after it. Place and lease are given back once.
struct EmbeddedSocketMachine {
    enum Action: Equatable {
        /// Hand a whole text message to the application.
        case deliverText(ByteBuffer)
        /// Hand a whole binary message to the application.
        case deliverBinary(ByteBuffer)
        /// Write a whole frame.
        case write(ByteBuffer)
        /// Send what was written since the last flush.
        case flush
        /// Give everything back but the connection: application, lease, reservation, deadline.
        case giveBack
        /// Close the connection when ``closeTime`` is over, regardless of the client.
        case limitClosing
        /// Close the connection once everything written has been sent: the server closes first (RFC 6455 section
        /// 7.1.1).
        case finish
        /// Close the connection at once. The client has answered no ping, so it is not sent a Close.
        case cut
        /// Ask the channel for more bytes: reading may have stopped, and the client's own Close or its end is waited
        /// for.
        case read
    }

    private enum State: Equatable {
        /// The client has not got its 101 yet.
        case unopened
        case open
        /// A Close has been sent. The rest is done at ``settle()``.
        case unsettled
        /// The machine waits only for the client's Close.
        case awaitingClose
        case over
    }

    /// The socket ends when more bytes than this are written while the client takes none. In bytes of whole frames.
    /// Frames whose sender waits for them (`isAwaited`) are not counted.
    static let maxBacklog = 1024 * 1024
    /// How long a client may take to send one message. Counted from its first byte, over all of its fragments. The
    /// socket is then closed with 1008.
    static let messageTime = TimeAmount.seconds(60)
    /// How long a client has to answer a Close. The connection is closed afterwards, whatever the client does.
    static let closeTime = TimeAmount.seconds(1)
    /// After this many pings without a byte from the client, it counts as gone. So a silent client is cut off when the
    /// third ping would be due.
    private static let maxUnansweredPings = 2
    private static let pingFrame = frame(.ping, ByteBuffer())

    private let pingInterval: TimeAmount
    private var state = State.unopened
    private var decoder: FrameDecoder
    private var inbound = ByteBuffer()
    private var pending: [Action] = []
    private var needsFlush = false
    private var backlog = 0
    private var unansweredPings = 0
    private var now = NIODeadline.uptimeNanoseconds(0)
    private var pingDue: NIODeadline?
    /// When the message that has begun must be complete; nil when none has begun.
    private var messageDue: NIODeadline?

    /// - Parameters:
    ///   - maxMessage: the longest message, in bytes.
    ///   - pingInterval: how often the client is sent a ping; zero or less for never.
    init(maxMessage: Int, pingInterval: TimeAmount) {
        self.decoder = FrameDecoder(maxMessage: maxMessage)
        self.pingInterval = pingInterval
    }

    // MARK: Questions

    /// Whether messages can be sent.
    var isOpen: Bool { state == .open }

    /// Whether more of the client's bytes can be processed now.
    func wantsBytes(applicationTakes: Bool, clientTakes: Bool) -> Bool {
        state != .open || (applicationTakes && clientTakes)
    }

    /// When ``timePassed(now:)`` is to be called next; nil while no time limit runs.
    var due: NIODeadline? {
        guard state == .open else { return nil }
        guard let messageDue else { return pingDue }
        return pingDue.map { min($0, messageDue) } ?? messageDue
    }

    // MARK: Events

    /// The client has got its 101.
    mutating func opened(now: NIODeadline) {
        guard state == .unopened else { return }
        state = .open
        self.now = now
        if pingInterval > .zero { pingDue = now + pingInterval }
    }

    /// Bytes of the client, cut anywhere. Any of them shows that the client is there, so the unanswered pings start
    /// again at 0. They are decoded by ``next(applicationTakes:clientTakes:)`` and dropped after the end.
    mutating func received(_ bytes: ByteBuffer, now: NIODeadline) {
        self.now = now
        unansweredPings = 0
        if state == .over { return }
        if inbound.readableBytes == 0 { inbound = bytes } else { inbound.writeImmutableBuffer(bytes) }
    }

    /// The client has taken what was written: nothing counts as backlog any more.
    mutating func clientBecameWritable() { backlog = 0 }

    /// The client's side is closed. Everything is given back, unless that has been done; no Close is sent.
    mutating func clientGone() {
        switch state {
        case .unopened, .open, .unsettled: pending.append(.giveBack)
        case .awaitingClose, .over: break
        }
        state = .over
    }

    /// A time limit may have passed: sends the ping that is due, or ends a socket whose client is too slow or gone. A
    /// call before ``due`` changes nothing.
    mutating func timePassed(now: NIODeadline) {
        self.now = now
        guard state == .open else { return }
        if let messageDue, messageDue < now { return close(.messageTooSlow) }
        guard let pingDue, pingDue <= now else { return }
        guard unansweredPings < Self.maxUnansweredPings else {
            state = .over
            pending += [.giveBack, .cut]
            return
        }
        unansweredPings += 1
        self.pingDue = now + pingInterval
        pending += [.write(Self.pingFrame), .flush]
    }

    /// The application wants to send a frame of `count` bytes. Returns whether it may be written. A backlog of more
    /// than ``maxBacklog`` closes the socket with 1013.
    ///
    /// - Parameter isAwaited: whether the application waits until the frame has been sent, and so limits its backlog
    ///   itself.
    /// - Parameter count: the length of the whole frame, header included.
    mutating func maySend(_ count: Int, clientTakes: Bool, isAwaited: Bool) -> Bool {
        guard state == .open else { return false }
        if !clientTakes, !isAwaited {
            backlog += count
            if backlog > Self.maxBacklog {
                close(.overloaded)
                return false
            }
        }
        needsFlush = true
        return true
    }

    /// Sends a Close. Nothing of the session is sent after it. The client has ``closeTime`` to answer. Does nothing
    /// before the 101 and after another Close.
    mutating func close(_ close: SocketClose) {
        guard state == .open else { return }
        sendClose(close.frame)
        settle()
    }

    /// Sends the Close of a lease that is over; the rest is done at ``settle()``. The two steps are apart so that of
    /// many sockets that end at once, all clients are told before any socket is taken down.
    mutating func leaseEnded(_ end: LeaseEnd) { sendClose(end.frame) }

    /// Does the rest after a Close that was sent.
    mutating func settle() {
        guard state == .unsettled else { return }
        state = .awaitingClose
        pending += [.giveBack, .limitClosing, .read]
    }

    private mutating func sendClose(_ frame: ByteBuffer) {
        guard state == .open else { return }
        state = .unsettled
        pending += [.write(frame), .flush]
    }

    // MARK: Actions

    /// The next action; nil when the machine waits for an event.
    ///
    /// - Parameter applicationTakes: whether the application takes another message; asked anew before each action.
    /// - Parameter clientTakes: whether the client's channel is writable. Messages wait where one of them is false.
    mutating func next(applicationTakes: Bool, clientTakes: Bool) -> Action? {
        if !pending.isEmpty { return pending.removeFirst() }
        switch state {
        case .open:
            if applicationTakes, clientTakes, let action = nextOfMessages() { return action }
            guard needsFlush, state == .open else { return nil }
            needsFlush = false
            return .flush
        case .awaitingClose: return nextOfClosing()
        case .unopened, .unsettled, .over: return nil
        }
    }

    private mutating func nextOfMessages() -> Action? {
        while true {
            let event = decoder.next(&inbound)
            note(event)
            switch event {
            case .needMoreData: return nil
            case .text(let text): return .deliverText(text)
            case .binary(let bytes): return .deliverBinary(bytes)
            case .ping(let payload):
                needsFlush = true
                return .write(Self.frame(.pong, payload))
            case .pong: continue
            case .close(let code, _): return end(with: Self.closeFrame(code))
            // From here on the borders of the client's frames are unknown.
            case .violation(let fault): return end(with: Self.closeFrame(fault.rawValue))
            }
        }
    }

    /// Ends the socket with a last frame, when the client has sent a Close or broken the protocol.
    private mutating func end(with frame: ByteBuffer) -> Action {
        state = .over
        inbound = ByteBuffer()
        pending += [.giveBack, .finish, .read]
        return .write(frame)
    }

    /// The next action after the gateway's Close: only the client's Close is looked for, and it ends the wait.
    private mutating func nextOfClosing() -> Action? {
        while true {
            switch decoder.next(&inbound) {
            case .text, .binary, .ping, .pong: continue
            case .needMoreData: return nil
            case .close, .violation:
                state = .over
                inbound = ByteBuffer()
                return .finish
            }
        }
    }

    /// Keeps the time limit of the message that has begun. A ping or pong between two fragments does not extend it.
    private mutating func note(_ event: FrameEvent) {
        switch event {
        case .needMoreData:
            let isInside = decoder.isInsideMessage || inbound.readableBytes > 0
            messageDue = isInside ? messageDue ?? now + Self.messageTime : nil
        case .ping, .pong: if !decoder.isInsideMessage { messageDue = nil }
        case .text, .binary, .close, .violation: messageDue = nil
        }
    }

    private static func frame(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.reserveCapacity(payload.readableBytes + 10)
        FrameEncoder.write(opcode, payload, to: &frame)
        return frame
    }

    /// - Parameter code: nil for a Close without one.
    private static func closeFrame(_ code: UInt16?) -> ByteBuffer {
        guard let code else { return frame(.close, ByteBuffer()) }
        var frame = ByteBuffer()
        FrameEncoder.close(code: code, to: &frame)
        return frame
    }
}
