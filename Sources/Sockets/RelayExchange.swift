import Answers
import EdgeCore
import HTTPWire
import Leases
import NIOCore
import Proxy

/// Relays an upgrade to an upstream: does what ``RelayMachine`` decides.
///
/// An upstream may answer with another status than `101`. That answer is passed on under the same lease that the socket
/// would have had, and keeps the socket's reservation until it ends. Confined to the event loop of the client's
/// connection.
package final class RelayExchange: Exchange, UpstreamUser, UpstreamSeeker, DeadlineHolder, LeaseHolder {
    private let writer: any ResponseWriter
    private let pool: UpstreamPool
    private let leases: LeaseTable
    private let log: UpstreamLog
    private let terms: Terms
    private let deadline: ConnectionDeadline
    private var machine: RelayMachine
    private var isActing = false
    private var upstream: UpstreamConnection?
    private var leaseID: LeaseTable.ID?
    /// The upstream that was asked last.
    private var asked: Int?

    /// Begins nothing: ``start()`` asks for a connection.
    ///
    /// - Parameter request: the client's head, as the handshake's answer has to fit it.
    package init(
        writer: any ResponseWriter, pool: UpstreamPool, leases: LeaseTable, log: UpstreamLog, request: RequestHead,
        terms: Terms
    ) {
        self.writer = writer
        self.pool = pool
        self.leases = leases
        self.log = log
        self.terms = terms
        self.deadline = writer.exchangeDeadline
        self.machine = RelayMachine(
            RelayMachine.Terms(
                request: request, accept: terms.accept, takesAnyBytes: writer.takesAnyBytes,
                opensTunnelOnSuccess: writer.opensTunnelOnSuccess))
    }

    // MARK: The client's side

    /// False: an upgrade has no body to wait with.
    package var wantsContinueFromGateway: Bool { false }

    /// Takes the lease, then asks for a connection to an upstream.
    package func start() {
        deadline.arm(after: terms.timeout, for: self)
        // Before the upstream is asked, so that what ends the session meanwhile refuses the upgrade.
        takeLease()
        act { $0.start() }
    }

    /// Does nothing: an upgrade has no body. The connection holds the bytes after the request for the socket, or drops
    /// them.
    package func received(body: ByteBuffer) {}
    /// Does nothing: an upgrade has no body.
    package func receivedEnd() {}

    /// Passes on more of an answer other than 101.
    package func clientBecameWritable() {
        act()
        upstream?.resumeReading()
    }

    /// Gives the upstream and the reservation up.
    package func clientGone() {
        act { $0.clientGone() }
    }

    /// Before the upstream has answered, the upgrade is refused. An answer that was passed on in place of a 101 is
    /// aborted.
    package func leaseEnded(_ end: LeaseEnd) {
        leaseID = nil
        act { $0.leaseEnded(Problem(endedBeforeUse: end)) }
    }

    /// The upstream's time is over: 504 before its answer has begun, an aborted answer after that. It gets as much time
    /// again while the client is what is slow, and for a silent event stream under a lease.
    package func deadlinePassed() {
        let isPatient = machine.deadlinePassed(clientTakes: writer.isClientWritable)
        if isPatient { deadline.arm(after: terms.timeout) }
        act()
    }

    // MARK: The upstream's side

    /// Whether a connection is still wanted.
    package var isSeekingUpstream: Bool { machine.isConnecting }

    /// Sends the upgrade on the connection.
    package func connected(to connection: UpstreamConnection, isPooled: Bool) {
        upstream = connection
        asked = connection.member
        writer.upstreamAsked(pool.place(connection.member))
        machine.connected(to: connection.member)
        connection.lend(to: self)
        act()
    }

    /// One member could not be reached: the machine asks for another.
    package func failedToConnect(to member: Int, _ fault: UpstreamFault) {
        writer.upstreamNotReached(pool.target(member).place)
        act { $0.failedToConnect(to: member, fault) }
    }

    /// Every member was tried: 502.
    package func noUpstreamLeft() { act { $0.noUpstreamLeft() } }

    /// Every member has as many requests or connections as it may: 503.
    package func upstreamsAreFull() { act { $0.upstreamsAreFull() } }

    /// Whether the client and the machine take more of the answer now.
    package var wantsUpstreamBytes: Bool { machine.wantsUpstreamBytes(clientTakes: writer.isClientWritable) }

    /// Bytes of the answer, as they came.
    package func upstreamReceived(_ bytes: ByteBuffer) { act { $0.upstreamReceived(bytes) } }

    /// A burst of reads is over.
    package func upstreamReceivedAll() { act { $0.upstreamReceivedAll() } }

    /// Does nothing: the head is all that is sent before the socket is open.
    package func upstreamBecameWritable() {}

    /// The upstream has closed or failed: the upgrade is refused with 502, or the answer ends.
    package func upstreamClosed() {
        act { $0.upstreamClosed(UpstreamFault(closedBy: upstream?.fault), isBroken: upstream?.isBroken ?? true) }
    }

    // MARK: Actions

    /// Does what is due.
    private func act() { act { _ in } }

    /// Tells the machine of an event and does what follows. Within an action it only tells the machine.
    ///
    /// The event and the first question for actions share one access to the machine, since each access is checked for
    /// exclusivity at run time.
    private func act(_ event: (inout RelayMachine) -> Void) {
        guard !isActing else { return event(&machine) }
        isActing = true
        var next = machine.next(after: event, clientTakes: writer.isClientWritable)
        while let action = next {
            perform(action)
            next = machine.next(clientTakes: writer.isClientWritable)
        }
        isActing = false
    }

    private func perform(_ action: RelayMachine.Action) {
        switch action {
        case .upstream(let action): perform(action)
        case .answered(let status): answered(status)
        case .startAnswer(let head): startAnswer(head)
        case .sendAnswer(let part):
            deadline.arm(after: terms.timeout)
            writer.sendBody(part)
        case .flushAnswer: writer.flushResponse()
        case .takeLease: takeLease()
        case .settle: settleAll()
        case .open(let head, let early): open(head, early)
        case .finishAnswer: writer.finishResponse()
        case .abortAnswer: writer.abortResponse()
        case .respond(let problem): terms.refuse(problem)
        }
    }

    private func perform(_ action: UpstreamAttempt.Action) {
        switch action {
        case .connect(let reuse, let tried, let isRetry):
            pool.lend(to: self, reuse, excluding: tried, isRetry: isRetry)
        case .send(let part): upstream?.send(part, head: terms.head, isChunked: false)
        case .release(let reuse):
            let connection = upstream.take()
            connection?.release(clean: reuse)
        case .report(let fault, let member):
            if fault.isUpstreams { pool.faulted(member) }
            log.failed(pool.target(member), fault)
        }
    }

    /// The refusal, if the credentials that admitted the upgrade ended while the upstream was preparing its answer.
    private var refusalBeforeUse: Problem? {
        leaseID.flatMap(leases.endBeforeUse(of:)).map(Problem.init(endedBeforeUse:))
    }

    private func answered(_ status: Int) {
        writer.upstreamAnswered()
        if let asked { pool.answered(asked, status: status) }
        if let refusal = refusalBeforeUse { machine.admissionEnded(refusal) }
    }

    private func startAnswer(_ head: ResponseHead) {
        deadline.arm(after: terms.timeout)
        let out = ResponseFilter.head(
            of: head, for: writer.answerForm, ownsCORS: terms.ownsCORS, keepsLength: false, date: writer.date)
        writer.startResponse(out, framing: ResponseFraming(of: head))
    }

    private func takeLease() {
        guard leaseID == nil, let lease = terms.lease else { return }
        leaseID = leases.insert(lease, holder: self)
        machine.leaseTaken()
    }

    private func settleAll() {
        deadline.cancel()
        if let leaseID { leases.remove(leaseID) }
        leaseID = nil
        terms.reservation?.leave()
    }

    private func open(_ head: ResponseHead, _ early: ByteBuffer) {
        guard let upstream = upstream.take() else { return }
        deadline.cancel()
        var out = ResponseFilter.head(
            of: head, for: writer.answerForm, ownsCORS: terms.ownsCORS, keepsLength: false, date: nil)
        out.fields.add("Connection", "Upgrade")
        out.fields.add("Upgrade", "websocket")
        if let own = terms.ownProtocol, !head.present.contains(.secWebSocketProtocol) {
            out.fields.add("Sec-WebSocket-Protocol", own)
        }
        let relay = SocketRelay(
            writer: writer, upstream: upstream, reservation: terms.reservation, leases: leases, leaseID: leaseID.take(),
            early: early)
        upstream.lend(to: relay)
        writer.switchProtocols(out, to: relay)
    }
}
