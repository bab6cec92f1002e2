import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore

/// One request on its way to an upstream, and its answer on the way back: does what ``ProxyMachine`` decides.
///
/// Every callback is an event for the machine, followed by whatever actions are due. An action that calls back here only
/// adds an event; the actions that follow from it come in the turn that is already under way.
package final class ProxyExchange: Exchange, LeaseHolder, DeadlineHolder, UpstreamUser, UpstreamSeeker {
    /// What the exchange needs to know of its route.
    package struct Terms {
        /// The head of the request as the upstream gets it.
        package var head: ByteBuffer
        /// How long the upstream may take to connect, to begin its answer, and between two parts of it.
        package var timeout: TimeAmount
        /// The most bytes a body may have; nil for no limit.
        package var maxBody: Int64?
        /// Whether the gateway answers CORS questions on this route.
        package var ownsCORS: Bool
        /// Who asked; where nothing had to be proved, nothing can end the exchange early.
        package var admitted: Admitted
        /// Whether the lease's expiry counts for every answer, and not only for event streams.
        package var isLeased: Bool
        package var leaseBounds: LeaseBounds
        /// When the request's head was complete, in ms since the epoch.
        package var receivedAt: Int64

        package init(
            head: ByteBuffer, timeout: TimeAmount, maxBody: Int64? = nil, ownsCORS: Bool, admitted: Admitted,
            isLeased: Bool, leaseBounds: LeaseBounds, receivedAt: Int64
        ) {
            self.head = head
            self.timeout = timeout
            self.maxBody = maxBody
            self.ownsCORS = ownsCORS
            self.admitted = admitted
            self.isLeased = isLeased
            self.leaseBounds = leaseBounds
            self.receivedAt = receivedAt
        }
    }

    private let writer: any ResponseWriter
    private let pool: UpstreamPool
    private let leases: LeaseTable
    private let log: UpstreamLog
    private let terms: Terms
    private let isChunked: Bool
    private let isHead: Bool
    private let deadline: ConnectionDeadline

    private var machine: ProxyMachine
    private var isActing = false
    private var upstream: UpstreamConnection?
    private var leaseID: LeaseTable.ID?

    package var wantsContinueFromGateway: Bool { false }

    package init(
        writer: any ResponseWriter, pool: UpstreamPool, leases: LeaseTable, log: UpstreamLog, request: RequestHead,
        terms: Terms
    ) {
        self.writer = writer
        self.pool = pool
        self.leases = leases
        self.log = log
        self.terms = terms
        self.isChunked = request.framing == .chunked
        self.isHead = request.knownMethod == .head
        self.deadline = writer.exchangeDeadline
        self.machine = ProxyMachine(
            ProxyMachine.Terms(
                framing: request.framing, method: request.knownMethod, maxBody: terms.maxBody,
                isLeased: terms.isLeased))
    }

    // MARK: Events

    package func start() {
        deadline.arm(after: terms.timeout, for: self)
        machine.start()
        act()
    }

    package func received(body: ByteBuffer) {
        machine.received(body: body)
        act()
    }

    package func receivedEnd() {
        machine.receivedEnd()
        act()
    }

    package func clientBecameWritable() {
        act()
        upstream?.resumeReading()
    }

    package func clientGone() {
        machine.clientGone()
        act()
    }

    package func leaseEnded(_ end: LeaseEnd) {
        leaseID = nil
        machine.leaseEnded()
        act()
    }

    package func deadlinePassed() {
        let isPatient = machine.deadlinePassed(
            clientTakes: writer.isClientWritable, upstreamTakes: upstream?.isWritable ?? true)
        if isPatient { deadline.arm(after: terms.timeout) }
        act()
    }

    package var wantsUpstreamBytes: Bool { machine.wantsUpstreamBytes(clientTakes: writer.isClientWritable) }

    package func upstreamReceived(_ bytes: ByteBuffer) {
        machine.upstreamReceived(bytes)
        act()
    }

    package func upstreamReceivedAll() {
        machine.upstreamReceivedAll()
        act()
    }

    package func upstreamBecameWritable() { act() }

    package func upstreamClosed() {
        machine.upstreamClosed(UpstreamFault(closedBy: upstream?.fault), isBroken: upstream?.isBroken ?? true)
        act()
    }

    // MARK: A connection

    package var isSeekingUpstream: Bool { machine.isConnecting }

    package func connected(to connection: UpstreamConnection, isPooled: Bool) {
        upstream = connection
        machine.connected(to: connection.member, isPooled: isPooled)
        connection.lend(to: self)
        act()
    }

    package func failedToConnect(to member: Int, _ fault: UpstreamFault) {
        machine.failedToConnect(to: member, fault)
        act()
    }

    package func noUpstreamLeft() {
        machine.noUpstreamLeft()
        act()
    }

    // MARK: Actions

    private func act() {
        guard !isActing else { return }
        isActing = true
        while let action = machine.next(
            clientTakes: writer.isClientWritable, upstreamTakes: upstream?.isWritable ?? true)
        {
            perform(action)
        }
        isActing = false
    }

    private func perform(_ action: ProxyMachine.Action) {
        switch action {
        case .upstream(let action): perform(action)
        case .pauseBody: writer.pauseBody()
        case .resumeBody: writer.resumeBody()
        case .sendInterim(let head): sendInterim(head)
        case .startAnswer(let head): startAnswer(head)
        case .sendAnswer(let part):
            deadline.arm(after: terms.timeout)
            writer.sendBody(part)
        case .flushAnswer: writer.flushResponse()
        case .takeLease: takeLease()
        case .settle: settleAll()
        case .finishAnswer: writer.finishResponse()
        case .abortAnswer: writer.abortResponse()
        case .respond(let problem): writer.respond(problem)
        }
    }

    private func perform(_ action: UpstreamAttempt.Action) {
        switch action {
        case .connect(let reuse, let tried): pool.lend(to: self, reuse, excluding: tried)
        case .send(let part):
            if case .sendBody = part { deadline.arm(after: terms.timeout) }
            upstream?.send(part, head: terms.head, isChunked: isChunked)
        case .release(let reuse):
            let connection = upstream.take()
            connection?.release(clean: reuse)
        case .tell(let fault, let member): log.failed(pool.target(member), fault)
        }
    }

    private func settleAll() {
        deadline.cancel()
        if let leaseID { leases.remove(leaseID) }
        leaseID = nil
    }

    // MARK: Towards the client

    private func sendInterim(_ head: ResponseHead) {
        var out = ResponseFilter.head(of: head, ownsCORS: terms.ownsCORS, keepsLength: false, date: nil)
        out.writeStaticString("\r\n")
        writer.sendInterim(out, isContinue: head.status == 100)
    }

    private func startAnswer(_ head: ResponseHead) {
        guard writer.takesAnyBytes || ResponseFilter.isText(head) else {
            return machine.cannotPassOn(reason: "upstream_answer_not_utf8")
        }
        deadline.arm(after: terms.timeout)
        // HEAD and 304 may say how long a body would be; nothing else without a body may (RFC 9110 section 8.6).
        let keepsLength = head.framing == .none && head.status != 204 && (isHead || head.status == 304)
        let out = ResponseFilter.head(
            of: head, ownsCORS: terms.ownsCORS, keepsLength: keepsLength, date: writer.date)
        writer.startResponse(out, framing: ResponseFraming(of: head))
    }

    /// An answer that is not complete after its first burst of bytes can be ended early: a stream by all that ends its
    /// lease, any other only by a revocation.
    private func takeLease() {
        guard leaseID == nil, var lease = terms.admitted.leaseTerms(terms.leaseBounds, now: terms.receivedAt) else {
            return
        }
        if !machine.endsWithLease {
            lease.expiresAt = nil
            lease.endsAt = .max
        }
        leaseID = leases.insert(lease, holder: self)
        machine.leaseTaken()
    }
}
