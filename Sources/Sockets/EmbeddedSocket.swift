import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore

/// A WebSocket that ends in the gateway: it turns frames into messages for a ``SocketApplication``, under a lease. Does
/// what ``EmbeddedSocketMachine`` decides. Confined to its event loop.
package final class EmbeddedSocket: Tunnel, LeaseHolder, DeadlineHolder, LastingExchange {
    private let application: any SocketApplication
    private let reservation: SocketReservation
    private let leases: LeaseTable
    private let terms: LeaseTerms?
    private let deadlines: DeadlineWheel
    private let deadline: ConnectionDeadline
    private var machine: EmbeddedSocketMachine
    private var isActing = false
    private var channel: (any Channel)?
    private var leaseID: LeaseTable.ID?

    /// - Parameters:
    ///   - reservation: the socket's reservation.
    ///   - admission: what admitted the socket. When those credentials end, the socket ends.
    ///   - admittedAt: in ms since the epoch.
    ///   - maxMessage: the longest message of a client, in bytes.
    ///   - pingInterval: how often the client is sent a ping; zero for never.
    package init(
        application: any SocketApplication, admission: Admission, reservation: SocketReservation, leases: LeaseTable,
        leaseBounds: LeaseBounds, admittedAt: Int64, deadlines: DeadlineWheel, maxMessage: Int, pingInterval: TimeAmount
    ) {
        self.application = application
        self.reservation = reservation
        self.leases = leases
        self.terms = admission.leaseTerms(leaseBounds, now: admittedAt)
        self.deadlines = deadlines
        self.deadline = ConnectionDeadline(deadlines)
        self.machine = EmbeddedSocketMachine(maxMessage: maxMessage, pingInterval: pingInterval)
    }

    // MARK: The client

    /// Begins the lease and tells the application. Does nothing where the client was gone before its 101 was written.
    package func opened(on channel: any Channel) {
        self.channel = channel
        machine.opened(now: deadlines.now)
        // A client that was gone before has been given everything back already.
        guard machine.isOpen else { return }
        if let terms { leaseID = leases.insert(terms, holder: self) }
        application.opened(self)
        act()
    }

    /// Whether application and client take more now.
    package var wantsBytes: Bool {
        machine.wantsBytes(applicationTakes: application.wantsMessages, clientTakes: isClientWritable)
    }

    /// Whether the client takes bytes. A client that does not read its answers is not read from either.
    private var isClientWritable: Bool { channel?.isWritable ?? true }

    /// Bytes of frames, cut anywhere.
    package func received(_ bytes: ByteBuffer) {
        machine.received(bytes, now: deadlines.now)
        act()
    }

    /// A burst of reads is over: sends what the application has answered.
    package func receivedAll() { channel?.flush() }

    /// Goes on with messages that waited for the client.
    package func clientBecameWritable() {
        machine.clientBecameWritable()
        resume()
    }

    /// Tells the application, and gives the lease, the reservation and the time limit back.
    package func clientGone() {
        machine.clientGone()
        act()
    }

    /// A ping may be due, or a message has taken too long.
    package func deadlinePassed() {
        machine.timePassed(now: deadlines.now)
        act()
    }

    // MARK: The lease

    /// Sends the client its Close. The application is told by ``settle()``, after the clients of all leases that ended.
    package func leaseEnded(_ end: LeaseEnd) {
        machine.leaseEnded(end)
        act()
    }

    /// Tells the application, once the clients of all leases that ended have got their Close.
    package func settle() {
        machine.settle()
        act()
    }

    /// Closes with 1001, so that clients connect again, to another node perhaps.
    package func drain() {
        leaseEnded(.draining)
        settle()
    }

    // MARK: Its operator

    /// A socket, as long as it is open.
    package var lastingKind: LastingKind? { machine.isOpen ? .socket : nil }
    /// In ms since the epoch: the earliest of the token's expiry with the clock tolerance, the session's end and
    /// `websocket.max_lifetime`.
    package var endsAt: Int64? { leaseID.flatMap(leases.terms(of:))?.due }

    /// Closes with 4403; through the lease where there is one, so that it is counted there.
    package func endedByOperator() {
        if let leaseID { return leases.end(leaseID, .endedByOperator) }
        leaseEnded(.endedByOperator)
        settle()
    }

    // MARK: The application

    /// The event loop of the socket; nil until the client has got its 101.
    package var eventLoop: (any EventLoop)? { channel?.eventLoop }

    /// Tells the socket that the application can take messages again. To be called on the event loop.
    package func resume() {
        act()
        channel?.read()
    }

    /// Sends one text message; dropped once a Close has been sent.
    ///
    /// - Parameter written: called when the message has been sent, or can't be sent any more. An application that
    ///   passes it waits for it, so the message does not count as backlog.
    package func send(text: String, written: (() -> Void)? = nil) {
        guard machine.isOpen else { return }
        var frame = ByteBuffer()
        frame.reserveCapacity(text.utf8.count + 10)
        FrameEncoder.text(text, to: &frame)
        send(frame, written)
    }

    /// Sends one message. Dropped once a Close has been sent. The message counts as backlog while the client takes
    /// nothing, and the socket is closed with 1013 when that exceeds 1 MiB.
    ///
    /// - Parameter payload: one whole message; it is not split into fragments.
    package func send(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) {
        guard machine.isOpen else { return }
        var frame = ByteBuffer()
        frame.reserveCapacity(payload.readableBytes + 10)
        FrameEncoder.write(opcode, payload, to: &frame)
        send(frame, nil)
    }

    private func send(_ frame: ByteBuffer, _ written: (() -> Void)?) {
        let count = frame.readableBytes
        if machine.maySend(count, clientTakes: isClientWritable, isAwaited: written != nil), let channel {
            if let written {
                channel.write(frame).assumeIsolated().whenComplete { _ in written() }
            } else {
                channel.write(frame, promise: nil)
            }
        }
        act()
    }

    /// Sends a Close. Nothing is sent after it. The application is told with ``SocketApplication/closed()``, before
    /// this returns unless it is called from a callback.
    package func close(_ close: SocketClose) {
        machine.close(close)
        act()
    }

    // MARK: Actions

    /// Carries out the actions that are due, after every event. An action that causes a callback only adds an event.
    private func act() {
        guard !isActing else { return }
        isActing = true
        while let action = machine.next(
            applicationTakes: application.wantsMessages, clientTakes: isClientWritable)
        {
            perform(action)
        }
        isActing = false
        if let due = machine.due { deadline.armIfEarlier(after: due - deadlines.now, for: self) }
    }

    private func perform(_ action: EmbeddedSocketMachine.Action) {
        switch action {
        case .deliverText(let text): application.received(text: text)
        case .deliverBinary(let bytes): application.received(binary: bytes)
        case .write(let frame): channel?.write(frame, promise: nil)
        case .flush: channel?.flush()
        case .giveBack:
            deadline.cancel()
            if let leaseID { leases.remove(leaseID) }
            leaseID = nil
            reservation.leave()
            application.closed()
        case .limitClosing:
            if let channel {
                ConnectionDeadline.close(channel, after: EmbeddedSocketMachine.closeTime, on: deadlines)
            }
        case .finish: if let channel { SocketEnding.close(channel, on: deadlines) }
        case .cut: channel?.close(promise: nil)
        case .read: channel?.read()
        }
    }
}
