import EdgeCore
import HTTPWire
import Leases
import NIOCore

/// What speaks over an embedded socket. Every call comes on the socket's event loop.
package protocol SocketApplication: AnyObject {
    func opened(_ socket: EmbeddedSocket)
    func received(text: ByteBuffer)
    func received(binary: ByteBuffer)
    /// The socket is gone. Called once.
    func closed()
    /// Whether another message can be taken now.
    var wantsMessages: Bool { get }
}

/// A WebSocket that ends here (RFC 6455): frames in, messages out to a ``SocketApplication``, under a lease.
package final class EmbeddedSocket: Tunnel, LeaseHolder, DeadlineHolder {
    private enum State { case open, closing, closed }

    private let application: any SocketApplication
    private let place: SocketPlace
    private let leases: LeaseTable
    private let pingInterval: TimeAmount
    private var decoder: FrameDecoder
    private var channel: (any Channel)?
    private var inbound = ByteBuffer()
    private var state = State.open
    private var leaseID: LeaseTable.ID?
    private var unansweredPings = 0
    private let deadlines: DeadlineWheel
    private let nextPing: ConnectionDeadline
    private var isDecoding = false
    private var hasEnded = false
    /// A Close has been sent; what follows from that has not been done.
    private var isUnsettled = false
    /// Runs while the client is at a message that is not whole yet.
    private var messageTimer: MessageTimer?
    /// Bytes written while the client did not read; more than the bound ends the socket.
    private var backlog = 0
    private static let maxBacklog = 1024 * 1024
    private static let messageTime = TimeAmount.seconds(60)

    package init(
        application: any SocketApplication, place: SocketPlace, leases: LeaseTable, terms: LeaseTerms,
        deadlines: DeadlineWheel, maxMessage: Int, pingInterval: TimeAmount
    ) {
        self.application = application
        self.place = place
        self.leases = leases
        self.deadlines = deadlines
        self.nextPing = ConnectionDeadline(deadlines)
        self.pingInterval = pingInterval
        self.decoder = FrameDecoder(maxMessage: maxMessage)
        self.leaseID = leases.insert(terms, holder: self)
    }

    package var eventLoop: (any EventLoop)? { channel?.eventLoop }

    // MARK: Tunnel

    package func opened(on channel: any Channel) {
        self.channel = channel
        application.opened(self)
        guard state == .open, pingInterval > .nanoseconds(0) else { return }
        nextPing.arm(after: pingInterval, for: self)
    }

    package func deadlinePassed() {
        ping()
        if state == .open { nextPing.arm(after: pingInterval) }
    }

    package var wantsBytes: Bool { state != .open || takesMessages }

    /// A client that does not read what it is answered is not read from either.
    private var takesMessages: Bool {
        state == .open && application.wantsMessages && (channel?.isWritable ?? true)
    }

    package func received(_ bytes: ByteBuffer) {
        unansweredPings = 0
        guard state == .open else {
            // After our own Close only the client's Close is of interest, and it only ends the wait.
            if state == .closing { lookForClose(bytes) }
            return
        }
        var bytes = bytes
        if inbound.readableBytes == 0 { inbound = bytes } else { inbound.writeBuffer(&bytes) }
        decode()
    }

    package func receivedAll() { channel?.flush() }

    package func clientBecameWritable() {
        backlog = 0
        resume()
    }

    package func clientGone() {
        state = .closed
        end()
    }

    package func drain() {
        leaseEnded(.draining)
        settle()
    }

    /// The application can take messages again.
    package func resume() {
        decode()
        channel?.read()
    }

    private func decode() {
        guard !isDecoding else { return }
        isDecoding = true
        defer { isDecoding = false }
        repeat {
            while takesMessages {
                guard takeEvent() else {
                    channel?.flush()
                    return
                }
            }
            // Flushing may make room for more.
            channel?.flush()
        } while takesMessages && inbound.readableBytes > 0
    }

    /// Takes the next event out of what has arrived; false when more must arrive first.
    private func takeEvent() -> Bool {
        let event = decoder.next(&inbound)
        note(event)
        switch event {
        case .needMoreData: return false
        case .text(let text): application.received(text: text)
        case .binary(let bytes): application.received(binary: bytes)
        case .ping(let payload): write(.pong, payload)
        case .pong: break
        case .close(let code, _): answerClose(code)
        case .violation(let fault): refuse(fault)
        }
        return true
    }

    /// Keeps the time of the message at hand. A ping or pong between two fragments does not make it any more whole.
    private func note(_ event: FrameEvent) {
        switch event {
        case .needMoreData:
            let isInside = decoder.isInsideMessage || inbound.readableBytes > 0
            if isInside { startMessageTimer() } else { stopMessageTimer() }
        case .ping, .pong: if !decoder.isInsideMessage { stopMessageTimer() }
        case .text, .binary, .close, .violation: stopMessageTimer()
        }
    }

    private func startMessageTimer() {
        guard messageTimer == nil else { return }
        messageTimer = MessageTimer(socket: self, deadlines: deadlines, limit: Self.messageTime)
    }

    private func stopMessageTimer() {
        messageTimer?.stop()
        messageTimer = nil
    }

    fileprivate func messageTookTooLong() {
        messageTimer = nil
        close(code: 1008, reason: "message_too_slow")
    }

    // MARK: Sending

    /// - Parameter written: called when the message has left, or can't any more. Whoever gives it waits for it, so the
    ///   message does not count as backlog.
    package func send(text: String, written: (() -> Void)? = nil) {
        guard state == .open else { return }
        var frame = ByteBuffer()
        frame.reserveCapacity(text.utf8.count + 10)
        FrameEncoder.text(text, to: &frame)
        put(frame, written: written)
        channel?.flush()
    }

    package func write(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) {
        guard state == .open else { return }
        var frame = ByteBuffer()
        frame.reserveCapacity(payload.readableBytes + 10)
        FrameEncoder.write(opcode, payload, to: &frame)
        put(frame)
    }

    private func put(_ frame: ByteBuffer, written: (() -> Void)? = nil) {
        guard let channel else { return }
        if !channel.isWritable, written == nil {
            backlog += frame.readableBytes
            if backlog > Self.maxBacklog { return close(code: 1013, reason: "overloaded") }
        }
        guard let written else { return channel.write(frame, promise: nil) }
        channel.write(frame).assumeIsolated().whenComplete { _ in written() }
    }

    private func ping() {
        guard state == .open else { return }
        guard unansweredPings < 2 else { return abandon() }
        unansweredPings += 1
        write(.ping, ByteBuffer())
        channel?.flush()
    }

    // MARK: Closing

    package func leaseEnded(_ end: LeaseEnd) {
        sendClose(end.frame)
    }

    /// Sends a Close; nothing of the session is sent after it. The client has a moment to answer.
    package func close(code: UInt16, reason: String) {
        var frame = ByteBuffer()
        FrameEncoder.close(code: code, reason: reason, to: &frame)
        sendClose(frame)
        settle()
    }

    private func sendClose(_ frame: ByteBuffer) {
        guard state == .open else { return }
        state = .closing
        isUnsettled = true
        channel?.writeAndFlush(frame, promise: nil)
    }

    package func settle() {
        guard isUnsettled else { return }
        isUnsettled = false
        end()
        awaitClose()
    }

    /// The client broke the protocol: what it sends from here on has no borders any more.
    private func refuse(_ fault: WebSocketFault) {
        guard state == .open else { return }
        state = .closed
        var frame = ByteBuffer()
        FrameEncoder.close(code: fault.rawValue, to: &frame)
        goodbye(frame)
    }

    private func answerClose(_ code: UInt16?) {
        guard state == .open else { return }
        state = .closed
        var frame = ByteBuffer()
        if let code {
            FrameEncoder.close(code: code, to: &frame)
        } else {
            FrameEncoder.write(.close, ByteBuffer(), to: &frame)
        }
        goodbye(frame)
    }

    /// The last frame; the server closes the connection first (RFC 6455 section 7.1.1).
    private func goodbye(_ frame: ByteBuffer) {
        inbound.clear()
        channel?.write(frame, promise: nil)
        end()
        if let channel {
            SocketEnding.close(channel, on: deadlines)
            channel.read()
        }
    }

    /// The connection is closed once the client has answered our Close, or a second is over.
    private func awaitClose() {
        guard let channel else { return }
        ConnectionDeadline.close(channel, after: .seconds(1), on: deadlines)
        let rest = inbound
        inbound = ByteBuffer()
        lookForClose(rest)
        channel.read()
    }

    private func lookForClose(_ bytes: ByteBuffer) {
        var bytes = bytes
        inbound.writeBuffer(&bytes)
        while true {
            switch decoder.next(&inbound) {
            case .text, .binary, .ping, .pong: continue
            case .needMoreData: return
            case .close, .violation:
                state = .closed
                if let channel { SocketEnding.close(channel, on: deadlines) }
                return
            }
        }
    }

    private func abandon() {
        state = .closing
        channel?.close(promise: nil)
    }

    /// Gives back everything but the connection. Runs once.
    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        nextPing.rest()
        stopMessageTimer()
        if let leaseID { leases.remove(leaseID) }
        leaseID = nil
        place.leave()
        application.closed()
    }
}

/// Ends a socket whose client has been at one message for too long.
private final class MessageTimer: DeadlineHolder {
    private let socket: EmbeddedSocket
    private let deadline: ConnectionDeadline

    init(socket: EmbeddedSocket, deadlines: DeadlineWheel, limit: TimeAmount) {
        self.socket = socket
        self.deadline = ConnectionDeadline(deadlines)
        deadline.arm(after: limit, for: self)
    }

    func stop() { deadline.rest() }
    func deadlinePassed() { socket.messageTookTooLong() }
}
