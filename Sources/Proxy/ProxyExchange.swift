import Answers
import EdgeCore
import Gate
import HTTPWire
import Leases
import NIOCore

/// Passes one request to an upstream and its answer back: does what ``ProxyMachine`` decides.
///
/// Every callback is an event for the machine, followed by the actions that are due. An action that causes a callback
/// only adds an event; the actions that follow from it are carried out in the turn that is already running.
package final class ProxyExchange: Exchange, LeaseHolder, DeadlineHolder, UpstreamUser, UpstreamSeeker,
    LastingExchange
{
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
        /// What admitted the request. When those credentials end, the answer ends early.
        package var admission: Admission
        /// Whether the lease's expiry counts for every answer, and not only for event streams.
        package var isLeased: Bool
        /// The configured limits of an answer's life.
        package var leaseBounds: LeaseBounds
        /// When the request's head was complete, in ms since the epoch.
        package var receivedAt: Int64
        /// The one upstream that may be asked; nil for any.
        package var member: Int?
        /// Decides whether the answer may be passed on; nil for every answer.
        package var judge: (any AnswerJudge)?
        /// Whether `Mcp-Session-Id` is left out of the answer.
        package var dropsProtocolSession = false

        /// The terms of a request that any upstream of the route may answer, and whose answer is not judged.
        package init(
            head: ByteBuffer, timeout: TimeAmount, maxBody: Int64? = nil, ownsCORS: Bool, admission: Admission,
            isLeased: Bool, leaseBounds: LeaseBounds, receivedAt: Int64
        ) {
            self.head = head
            self.timeout = timeout
            self.maxBody = maxBody
            self.ownsCORS = ownsCORS
            self.admission = admission
            self.isLeased = isLeased
            self.leaseBounds = leaseBounds
            self.receivedAt = receivedAt
        }
    }

    let writer: any ResponseWriter
    let pool: UpstreamPool
    let leases: LeaseTable
    private let log: UpstreamLog
    let terms: Terms
    private let isChunked: Bool
    let deadline: ConnectionDeadline

    var machine: ProxyMachine
    private var isActing = false
    var upstream: UpstreamConnection?
    var leaseID: LeaseTable.ID?
    /// How many revocations there had been when the request was admitted.
    let revocationsBefore: UInt64
    /// The upstream that was asked last.
    var asked: Int?

    /// False: the upstream answers `Expect: 100-continue`.
    package var wantsContinueFromGateway: Bool { false }

    /// Begins nothing: ``start()`` asks for a connection.
    ///
    /// - Parameter request: the client's head: its framing and method.
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
        self.deadline = writer.exchangeDeadline
        self.revocationsBefore = leases.revocationCount
        self.machine = ProxyMachine(
            ProxyMachine.Terms(
                framing: request.framing, method: request.knownMethod, maxBody: terms.maxBody,
                isLeased: terms.isLeased, isJudged: terms.judge != nil, takesAnyBytes: writer.takesAnyBytes))
    }

    // MARK: Events

    /// Asks for a connection to an upstream, and arms the time limit.
    package func start() {
        deadline.arm(after: terms.timeout, for: self)
        act { $0.start() }
    }

    /// A part of the request's body. It waits where the upstream does not take it yet.
    package func received(body: ByteBuffer) { act { $0.received(body: body) } }

    /// The request's body is complete.
    package func receivedEnd() { act { $0.receivedEnd() } }

    /// Passes on what waited for the client, and reads on from the upstream.
    package func clientBecameWritable() {
        act()
        upstream?.resumeReading()
    }

    /// Gives the upstream up.
    package func clientGone() { act { $0.clientGone() } }

    /// An answer that has begun is aborted, so that the client can see that it is incomplete; before that the request
    /// is refused.
    package func leaseEnded(_ end: LeaseEnd) {
        leaseID = nil
        act { $0.leaseEnded(Problem(endedBeforeUse: end)) }
    }

    /// Closes what ``leaseEnded(_:)`` has left open: the client's connection and the one to the upstream.
    package func settle() { act { $0.settle() } }

    /// Only an answer that its lease ends is one that stays open.
    package var lastingKind: LastingKind? { leaseID != nil && machine.endsWithLease ? .stream : nil }
    /// When the lease ends if nothing extends it, in ms since the epoch; nil without a lease.
    package var endsAt: Int64? { leaseID.flatMap(leases.terms(of:))?.due }
    /// Ends the lease, which aborts the answer.
    package func endedByOperator() { if let leaseID { leases.end(leaseID, .endedByOperator) } }

    /// The route's `timeout` has passed: 504 before the answer has begun, an aborted answer after that. The limit is
    /// set again where another one ends the exchange.
    package func deadlinePassed() {
        let isPatient = machine.deadlinePassed(
            clientTakes: writer.isClientWritable, upstreamTakes: upstream?.isWritable ?? true)
        if isPatient { deadline.arm(after: terms.timeout) }
        act()
    }

    /// Whether the client and the machine take more of the answer now.
    package var wantsUpstreamBytes: Bool { machine.wantsUpstreamBytes(clientTakes: writer.isClientWritable) }

    /// Bytes of the answer, as they came.
    package func upstreamReceived(_ bytes: ByteBuffer) { act { $0.upstreamReceived(bytes) } }

    /// A burst of reads is over: what was passed on is flushed, or a lease is taken.
    package func upstreamReceivedAll() { act { $0.upstreamReceivedAll() } }

    /// Sends more of the request's body.
    package func upstreamBecameWritable() { act() }

    /// The upstream has closed or failed: the request is tried again where that is safe, else the exchange ends.
    package func upstreamClosed() {
        act { $0.upstreamClosed(UpstreamFault(closedBy: upstream?.fault), isBroken: upstream?.isBroken ?? true) }
    }

    // MARK: A connection

    /// Whether a connection is still wanted.
    package var isSeekingUpstream: Bool { machine.isConnecting }

    /// Sends the request on the connection.
    package func connected(to connection: UpstreamConnection, isPooled: Bool) {
        upstream = connection
        asked = connection.member
        writer.upstreamAsked(pool.place(connection.member))
        machine.connected(to: connection.member, isPooled: isPooled)
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

    // MARK: Actions

    /// Does what is due.
    private func act() { act { _ in } }

    /// Tells the machine of an event and does what follows. Within an action it only tells the machine.
    ///
    /// The event and the first question for actions share one access to the machine, since each access is checked for
    /// exclusivity at run time.
    func act(_ event: (inout ProxyMachine) -> Void) {
        guard !isActing else { return event(&machine) }
        isActing = true
        var next = machine.next(
            after: event, clientTakes: writer.isClientWritable, upstreamTakes: upstream?.isWritable ?? true)
        while let action = next {
            perform(action)
            next = machine.next(
                clientTakes: writer.isClientWritable, upstreamTakes: upstream?.isWritable ?? true)
        }
        isActing = false
    }

    private func perform(_ action: ProxyMachine.Action) {
        switch action {
        case .upstream(let action): perform(action)
        case .pauseBody: writer.pauseBody()
        case .resumeBody: writer.resumeBody()
        case .sendInterim(let head): sendInterim(head)
        case .answered(let status): answered(status)
        case .judgeAnswer(let head): judge(head)
        case .startAnswer(let head, let keepsLength): startAnswer(head, keepsLength: keepsLength)
        case .sendAnswer(let part):
            deadline.arm(after: terms.timeout)
            writer.sendBody(part)
        case .flushAnswer: writer.flushResponse()
        case .takeLease: takeLease()
        case .settle: settleAll()
        case .finishAnswer: writer.finishResponse()
        case .abortAnswer: writer.abortResponse()
        case .cutAnswer: if !writer.endSending() { machine.cannotCut() }
        case .respond(let problem): writer.respond(problem)
        }
    }

    private func perform(_ action: UpstreamAttempt.Action) {
        switch action {
        case .connect(let reuse, let tried, let isRetry):
            pool.lend(to: self, reuse, excluding: tried, only: terms.member, isRetry: isRetry)
        case .send(let part):
            if case .sendBody = part { deadline.arm(after: terms.timeout) }
            upstream?.send(part, head: terms.head, isChunked: isChunked)
        case .release(let reuse):
            let connection = upstream.take()
            connection?.release(clean: reuse)
        case .report(let fault, let member):
            if fault.isUpstreams { pool.faulted(member) }
            log.failed(pool.target(member), fault)
        }
    }

    private func settleAll() {
        deadline.cancel()
        if let leaseID { leases.remove(leaseID) }
        leaseID = nil
    }
}
