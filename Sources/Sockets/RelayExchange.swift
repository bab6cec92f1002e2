import Answers
import EdgeCore
import HTTPWire
import Leases
import NIOCore
import Proxy

/// An upgrade on its way to an upstream: the client gets its `101` only after the upstream's has passed our own checks.
///
/// An upstream may answer with something else than 101. That answer is passed on under the same lease that the socket
/// would have had, and keeps the socket's place until it ends.
package final class RelayExchange: Exchange, UpstreamUser, DeadlineHolder, LeaseHolder {
    package struct Terms {
        package var head: ByteBuffer
        package var timeout: TimeAmount
        /// `Sec-WebSocket-Accept` as the client's key demands it.
        package var accept: String
        package var ownsCORS: Bool
        package var lease: LeaseTerms?
        package var place: SocketPlace?
        /// The subprotocol to answer when the upstream chose none itself.
        package var ownProtocol: String?

        package init(
            head: ByteBuffer, timeout: TimeAmount, accept: String, ownsCORS: Bool, lease: LeaseTerms? = nil,
            place: SocketPlace? = nil, ownProtocol: String? = nil
        ) {
            self.head = head
            self.timeout = timeout
            self.accept = accept
            self.ownsCORS = ownsCORS
            self.lease = lease
            self.place = place
            self.ownProtocol = ownProtocol
        }
    }

    private let writer: any ResponseWriter
    private let pool: UpstreamPool
    private let leases: LeaseTable
    private let log: UpstreamLog
    private let request: RequestHead
    private let terms: Terms
    private var upstream: UpstreamConnection?
    private var tried: Set<Int> = []
    /// What the last upstream that could not be reached has failed with.
    private var lastFault: UpstreamFault?
    private var inbound = ByteBuffer()
    private var scanner = ResponseScanner()
    private let deadline: ConnectionDeadline
    private var isOver = false
    private var interimCount = 0
    /// Reads the body of an answer that is no 101.
    private var refusal: BodyDecoder?
    private var isEventStream = false
    private var leaseID: LeaseTable.ID?

    package var wantsContinueFromGateway: Bool { false }
    package var wantsUpstreamBytes: Bool { refusal == nil || writer.isClientWritable }

    package init(
        writer: any ResponseWriter, pool: UpstreamPool, leases: LeaseTable, log: UpstreamLog, request: RequestHead,
        terms: Terms
    ) {
        self.writer = writer
        self.pool = pool
        self.leases = leases
        self.log = log
        self.request = request
        self.terms = terms
        self.deadline = writer.exchangeDeadline
    }

    package func start() {
        deadline.arm(after: terms.timeout, for: self)
        connect()
    }

    private func connect() {
        guard let member = pool.choose(excluding: tried) else {
            return fail(Problem(.upstreamUnavailable, reason: lastFault?.reason ?? "no_upstream_reachable"))
        }
        let bound = NIOLoopBound(self, eventLoop: writer.eventLoop)
        // Always a connection of its own: it never goes back to the pool.
        pool.connect(member).assumeIsolated().whenComplete { result in
            let exchange = bound.value
            switch result {
            case .success(let connection):
                guard !exchange.isOver else { return exchange.pool.giveBack(connection) }
                exchange.upstream = connection
                connection.lend(to: exchange)
                connection.write(exchange.terms.head)
                connection.flush()
            case .failure(let error):
                exchange.tell(UpstreamFault(connecting: error), of: member)
                guard !exchange.isOver else { return }
                exchange.tried.insert(member)
                exchange.connect()
            }
        }
    }

    // MARK: The client's side

    package func received(body: ByteBuffer) {}
    package func receivedEnd() {}
    package func clientBecameWritable() { upstream?.resumeReading() }
    package func clientGone() { finish(closing: true) }

    // MARK: The upstream's answer

    package func upstreamReceived(_ bytes: ByteBuffer) {
        guard !isOver else { return }
        var bytes = bytes
        if inbound.readableBytes == 0 { inbound = bytes } else { inbound.writeBuffer(&bytes) }
        guard refusal == nil else { return passRefusal() }
        switch scanner.feed(&inbound, requestWasHead: false) {
        case .needMoreData: return
        case .failed:
            if let upstream { tell(.malformed, of: upstream.member) }
            fail(Problem(.upstreamUnavailable, reason: UpstreamFault.malformed.reason))
        case .head(let head) where head.status == 101: switchProtocols(head)
        case .head(let head) where head.status < 200:
            interimCount += 1
            if interimCount > 16 { return fail(Problem(.upstreamUnavailable, reason: "interim_flood")) }
            let rest = inbound
            inbound = ByteBuffer()
            if rest.readableBytes > 0 { upstreamReceived(rest) }
        case .head(let head): refuse(head)
        }
    }

    package func upstreamReceivedAll() {
        guard refusal != nil, !isOver else { return }
        takeLease()
        writer.flushResponse()
    }

    /// An answer that is not complete after its first burst of bytes can be ended by whatever would end the socket.
    private func takeLease() {
        guard leaseID == nil, let lease = terms.lease else { return }
        leaseID = leases.insert(lease, holder: self)
    }

    package func leaseEnded(_ end: LeaseEnd) {
        guard !isOver else { return }
        finish(closing: true)
        writer.abortResponse()
    }

    package func upstreamBecameWritable() {}

    package func upstreamClosed() {
        guard refusal != nil, endsWithConnection, upstream?.isBroken == false else {
            let fault = UpstreamFault(closedBy: upstream?.fault)
            // In the middle of an answer it has served, if not to the end: the client sees that.
            if let upstream, refusal == nil { tell(fault, of: upstream.member) }
            return fail(Problem(.upstreamUnavailable, reason: fault.reason))
        }
        finish(closing: true)
        writer.finishResponse()
    }

    private func switchProtocols(_ head: ResponseHead) {
        if let fault = WebSocketHandshake.faultOfAnswer(head, to: request, accept: terms.accept) {
            return fail(Problem(.upstreamUnavailable, reason: "upstream_upgrade: \(fault)"))
        }
        guard let upstream, canPassOn(head) else { return }
        var out = ResponseFilter.head(of: head, ownsCORS: terms.ownsCORS, keepsLength: false, date: nil)
        out.writeStaticString("Connection: Upgrade\r\nUpgrade: websocket\r\n")
        if let own = terms.ownProtocol, !head.present.contains(.secWebSocketProtocol) {
            out.writeString("Sec-WebSocket-Protocol: \(own)\r\n")
        }
        out.writeStaticString("\r\n")
        let relay = SocketRelay(
            writer: writer, upstream: upstream, place: terms.place, leases: leases, terms: terms.lease,
            early: inbound)
        self.upstream = nil
        finish(closing: false)
        upstream.lend(to: relay)
        writer.switchProtocols(out, to: relay)
    }

    /// Any other answer than 101 is passed on as it is, and the client's connection is closed behind it.
    private func refuse(_ head: ResponseHead) {
        if writer.opensTunnelOnSuccess, head.status < 300 {
            return fail(Problem(.upstreamUnavailable, reason: "upstream_upgrade: \(head.status)"))
        }
        guard canPassOn(head) else { return }
        let framing: ResponseFraming
        switch head.framing {
        case .none: framing = .none
        case .length(let count): framing = .length(count)
        case .chunked: framing = .stream
        case .untilClose:
            framing = .stream
            endsWithConnection = true
        }
        // While nothing has been passed on, a fault of the body can still be answered.
        var decoder = BodyDecoder(head.framing)
        var look = inbound
        if case .failed = decoder.next(&look, maxSlice: 64 * 1024) {
            if let upstream { tell(.malformed, of: upstream.member) }
            return fail(Problem(.upstreamUnavailable, reason: UpstreamFault.malformed.reason))
        }
        refusal = BodyDecoder(head.framing)
        isEventStream = ResponseFilter.isEventStream(head)
        writer.startResponse(
            ResponseFilter.head(of: head, ownsCORS: terms.ownsCORS, keepsLength: false, date: writer.date),
            framing: framing)
        passRefusal()
    }

    /// Whether the head can be said to this client unchanged; fails the exchange if not.
    private func canPassOn(_ head: ResponseHead) -> Bool {
        if writer.takesAnyBytes || ResponseFilter.isText(head) { return true }
        fail(Problem(.upstreamUnavailable, reason: "upstream_answer_not_utf8"))
        return false
    }

    private func passRefusal() {
        while !isOver, let event = refusal?.next(&inbound, maxSlice: 64 * 1024) {
            switch event {
            case .needMoreData: return
            case .data(let part):
                deadline.arm(after: terms.timeout)
                writer.sendBody(part)
            case .end:
                finish(closing: true)
                writer.finishResponse()
            case .failed: fail(Problem(.upstreamUnavailable, reason: UpstreamFault.malformed.reason))
            }
        }
    }

    private var endsWithConnection = false

    package func deadlinePassed() {
        guard let upstream else {
            return fail(Problem(.upstreamTimeout, reason: UpstreamFault.connectTimeout.reason))
        }
        if refusal != nil, !writer.isClientWritable || (isEventStream && leaseID != nil) {
            // A client that is slow is ended by its own deadline, a stream that is silent by its lease.
            return deadline.arm(after: terms.timeout)
        }
        if refusal == nil { tell(.answerTimeout, of: upstream.member) }
        fail(Problem(.upstreamTimeout, reason: UpstreamFault.answerTimeout.reason))
    }

    private func tell(_ fault: UpstreamFault, of member: Int) {
        lastFault = fault
        log.failed(pool.target(member), fault)
    }

    private func fail(_ problem: Problem) {
        guard !isOver else { return }
        finish(closing: true)
        writer.respond(problem)
    }

    private func finish(closing: Bool) {
        isOver = true
        deadline.rest()
        inbound = ByteBuffer()
        if let leaseID { leases.remove(leaseID) }
        leaseID = nil
        if closing {
            upstream?.release(clean: false)
            terms.place?.leave()
        }
        upstream = nil
    }
}
