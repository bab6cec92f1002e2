import HTTPWire
import NIOCore

/// One request on its way to an upstream, and its answer on the way back.
///
/// The body streams in both directions: whichever side can't take more stops the other. A connection goes back to the
/// pool only after a complete and clean exchange.
final class ProxyExchange: Exchange, LeaseHolder, DeadlineHolder {
    /// What the exchange needs to know of its route.
    struct Terms {
        var head: ByteBuffer
        var timeout: TimeAmount
        var maxBody: Int64?
        var ownsCORS: Bool
        /// Who asked; where nobody had to prove anything, nothing can end it early.
        var admitted: Admitted
        /// Whether the lease's expiry counts for every answer, and not only for event streams.
        var isLeased: Bool
    }

    enum State { case connecting, waiting, streaming, done }

    let writer: any ResponseWriter
    let pool: UpstreamPool
    let services: EdgeServices
    let loop: LoopState
    let terms: Terms
    let receivedAt: Int64
    let isHead: Bool
    let isIdempotent: Bool
    let framing: BodyFraming

    var state = State.connecting
    var upstream: UpstreamConnection?
    var tried: Set<Int> = []
    var isFromPool = false
    var held: [ByteBuffer] = []
    var heldBytes = 0
    var bodyBytes: Int64 = 0
    var isRequestDone = false
    var hasSentBody = false
    var hasFailedAttempt = false
    /// What the last upstream that could not be reached has failed with.
    var lastFault: UpstreamFault?

    var inbound = ByteBuffer()
    var scanner = ResponseScanner()
    var decoder = BodyDecoder(.none)
    var interimCount = 0
    var leaseID: LeaseTable.ID?
    let deadline: ConnectionDeadline
    var keepsUpstream = false
    var isClientBlocked = false
    var isStream = false
    var decoderFraming = BodyFraming.none
    var hasUpstreamEnded = false
    var isBroken = false

    var wantsContinueFromGateway: Bool { false }

    init(
        writer: any ResponseWriter, pool: UpstreamPool, request: EdgeRequest, services: EdgeServices, terms: Terms
    ) {
        self.writer = writer
        self.pool = pool
        self.services = services
        self.loop = request.loop
        self.terms = terms
        self.receivedAt = request.receivedAt
        self.isHead = request.head.knownMethod == .head
        self.framing = request.head.framing
        self.isRequestDone = request.head.framing == .none
        switch request.head.knownMethod {
        case .get, .head, .options, .put, .delete: isIdempotent = true
        default: isIdempotent = false
        }
        self.deadline = writer.exchangeDeadline
    }

    func start() {
        deadline.arm(after: terms.timeout, for: self)
        connect()
    }

    // MARK: Reaching the upstream

    func connect() {
        guard let member = pool.choose(excluding: tried) else {
            return fail(Problem(.upstreamUnavailable, reason: lastFault?.reason ?? "no_upstream_reachable"))
        }
        if !hasFailedAttempt, let idle = pool.takeIdle(member) {
            isFromPool = true
            return connected(idle)
        }
        isFromPool = false
        let bound = NIOLoopBound(self, eventLoop: writer.eventLoop)
        pool.connect(member).assumeIsolated().whenComplete { result in
            let exchange = bound.value
            switch result {
            case .success(let connection):
                guard exchange.state == .connecting else { return exchange.pool.giveBack(connection) }
                exchange.connected(connection)
            case .failure(let error):
                exchange.tell(UpstreamFault(connecting: error), of: member)
                guard exchange.state == .connecting else { return }
                // Nothing was sent, so another upstream may be asked whatever the method is.
                exchange.tried.insert(member)
                exchange.connect()
            }
        }
    }

    func connected(_ connection: UpstreamConnection) {
        upstream = connection
        state = .waiting
        connection.lend(to: self)
        connection.write(terms.head)
        for part in held { send(part) }
        if isRequestDone { endRequest() }
        held = []
        heldBytes = 0
        connection.flush()
        writer.resumeBody()
    }

    /// The connection broke before a byte of the answer came: another try is safe if nothing of a body had gone out and
    /// the method may be repeated, or if it was an idle connection that had been closed meanwhile.
    func retryOrFail() {
        let mayRetry = isIdempotent && !hasSentBody && !hasFailedAttempt && inbound.readableBytes == 0
        let fault = UpstreamFault(closedBy: upstream?.fault)
        // That an idle connection was closed meanwhile is nobody's fault.
        if let upstream, !mayRetry || !isFromPool { tell(fault, of: upstream.member) }
        upstream?.release(clean: false)
        upstream = nil
        guard mayRetry else { return fail(Problem(.upstreamUnavailable, reason: fault.reason)) }
        hasFailedAttempt = true
        state = .connecting
        connect()
    }

    // MARK: Exchange

    func received(body: ByteBuffer) {
        bodyBytes += Int64(body.readableBytes)
        if let limit = terms.maxBody, bodyBytes > limit {
            return fail(Problem(.payloadTooLarge))
        }
        switch state {
        case .connecting:
            held.append(body)
            heldBytes += body.readableBytes
            if heldBytes > 64 * 1024 { writer.pauseBody() }
        case .waiting, .streaming:
            deadline.arm(after: terms.timeout)
            send(body)
            upstream?.flush()
            if let upstream, !upstream.isWritable { writer.pauseBody() }
        case .done: break
        }
    }

    func receivedEnd() {
        guard !isRequestDone else { return }
        isRequestDone = true
        if state == .waiting || state == .streaming {
            endRequest()
            upstream?.flush()
        }
    }

    func clientBecameWritable() {
        if isClientBlocked {
            isClientBlocked = false
            drainInbound()
            writer.flushResponse()
        }
        upstream?.resumeReading()
    }

    func clientGone() {
        guard state != .done else { return }
        finish(clean: false)
    }

    func send(_ part: ByteBuffer) {
        guard let upstream else { return }
        hasSentBody = true
        if framing == .chunked {
            var size = ByteBuffer()
            HeadWriter.chunkHeader(length: part.readableBytes, to: &size)
            upstream.write(size)
            upstream.write(part)
            upstream.write(Self.lineEnd)
        } else {
            upstream.write(part)
        }
    }

    func endRequest() {
        if framing == .chunked { upstream?.write(Self.lastChunk) }
    }

    // MARK: Endings

    func leaseEnded(_ end: LeaseEnd) {
        leaseID = nil
        guard state != .done else { return }
        finish(clean: false)
        writer.abortResponse()
    }

    func deadlinePassed() {
        switch state {
        case .waiting where !isRequestDone && upstream?.isWritable == true:
            // It is the client that keeps everybody waiting; its own deadline ends it.
            deadline.arm(after: terms.timeout)
        case .connecting: fail(Problem(.upstreamTimeout, reason: UpstreamFault.connectTimeout.reason))
        case .waiting:
            if let upstream { tell(.answerTimeout, of: upstream.member) }
            fail(Problem(.upstreamTimeout, reason: UpstreamFault.answerTimeout.reason))
        case .streaming:
            if isClientBlocked || !writer.isClientWritable {
                // It is the client that is slow; its own deadline ends it.
                deadline.arm(after: terms.timeout)
            } else if leaseID != nil, isStream {
                // A stream under a lease may be silent: the lease bounds it.
                deadline.arm(after: terms.timeout)
            } else {
                finish(clean: false)
                writer.abortResponse()
            }
        case .done: break
        }
    }

    func tell(_ fault: UpstreamFault, of member: Int) {
        lastFault = fault
        services.upstreamLog.failed(pool.target(member), fault)
    }

    func fail(_ problem: Problem) {
        guard state != .done else { return }
        finish(clean: false)
        writer.respond(problem)
    }

    func complete() {
        finish(clean: false)
        writer.finishResponse()
    }

    func release(clean: Bool) {
        upstream?.release(clean: clean)
        upstream = nil
    }

    func finish(clean: Bool) {
        state = .done
        deadline.rest()
        if let leaseID { loop.leases.remove(leaseID) }
        leaseID = nil
        release(clean: clean)
        held = []
        inbound = ByteBuffer()
    }

    private static let lineEnd = ByteBuffer(string: "\r\n")
    private static let lastChunk = ByteBuffer(string: "0\r\n\r\n")
}
