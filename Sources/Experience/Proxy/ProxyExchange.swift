import HTTPWire
import NIOCore

/// One request on its way to an upstream, and its answer on the way back.
///
/// The body streams in both directions: whichever side can't take more stops the other. A connection goes back to the
/// pool only after a complete and clean exchange.
final class ProxyExchange: Exchange, UpstreamUser, LeaseHolder, DeadlineHolder {
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

    private enum State { case connecting, waiting, streaming, done }

    private let writer: any ResponseWriter
    private let pool: UpstreamPool
    private let services: EdgeServices
    private let loop: LoopState
    private let terms: Terms
    private let receivedAt: Int64
    private let isHead: Bool
    private let isIdempotent: Bool
    private let framing: BodyFraming

    private var state = State.connecting
    private var upstream: UpstreamConnection?
    private var tried: Set<Int> = []
    private var isFromPool = false
    private var held: [ByteBuffer] = []
    private var heldBytes = 0
    private var bodyBytes: Int64 = 0
    private var isRequestDone = false
    private var hasSentBody = false
    private var hasFailedAttempt = false
    /// What the last upstream that could not be reached has failed with.
    private var lastFault: UpstreamFault?

    private var inbound = ByteBuffer()
    private var scanner = ResponseScanner()
    private var decoder = BodyDecoder(.none)
    private var interimCount = 0
    private var leaseID: LeaseTable.ID?
    private let deadline: ConnectionDeadline
    private var keepsUpstream = false
    private var isClientBlocked = false
    private var isStream = false

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

    private func connect() {
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

    private func connected(_ connection: UpstreamConnection) {
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
    private func retryOrFail() {
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

    private func send(_ part: ByteBuffer) {
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

    private func endRequest() {
        if framing == .chunked { upstream?.write(Self.lastChunk) }
    }

    // MARK: UpstreamUser

    var wantsUpstreamBytes: Bool { !isClientBlocked && (state != .streaming || writer.isClientWritable) }

    func upstreamBecameWritable() { writer.resumeBody() }

    func upstreamReceived(_ bytes: ByteBuffer) {
        var bytes = bytes
        if inbound.readableBytes == 0 { inbound = bytes } else { inbound.writeBuffer(&bytes) }
        drainInbound()
    }

    func upstreamReceivedAll() {
        guard state == .streaming else { return }
        takeLease()
        writer.flushResponse()
    }

    func upstreamClosed() {
        switch state {
        case .connecting, .done: break
        case .waiting:
            retryOrFail()
        case .streaming:
            // A slow client may still have to be given what came before the end.
            isBroken = upstream?.isBroken ?? true
            hasUpstreamEnded = true
            release(clean: false)
            drainInbound()
        }
    }

    /// Everything that came has been passed on, and no more will come.
    private func endWithUpstream() {
        if case .untilClose = decoderFraming, !isBroken {
            complete()
        } else {
            // The client must be able to tell that the answer is not whole.
            finish(clean: false)
            writer.abortResponse()
        }
    }

    private var decoderFraming = BodyFraming.none
    private var hasUpstreamEnded = false
    private var isBroken = false

    private func drainInbound() {
        while true {
            switch state {
            case .waiting: guard readHead() else { return }
            case .streaming: guard readBody() else { return }
            case .connecting, .done: return
            }
        }
    }

    private func readHead() -> Bool {
        guard inbound.readableBytes > 0 else { return false }
        switch scanner.feed(&inbound, requestWasHead: isHead) {
        case .needMoreData: return false
        case .failed:
            if let upstream { tell(.malformed, of: upstream.member) }
            fail(Problem(.upstreamUnavailable, reason: UpstreamFault.malformed.reason))
            return false
        case .head(let head) where head.status < 200:
            return interim(head)
        case .head(let head):
            begin(head)
            return true
        }
    }

    private func interim(_ head: ResponseHead) -> Bool {
        interimCount += 1
        guard head.status != 101, interimCount <= 16 else {
            fail(Problem(.upstreamUnavailable, reason: "unexpected_interim_answer"))
            return false
        }
        var out = ResponseFilter.head(of: head, ownsCORS: terms.ownsCORS, keepsLength: false)
        out.writeStaticString("\r\n")
        writer.sendInterim(out, isContinue: head.status == 100)
        return true
    }

    private func begin(_ head: ResponseHead) {
        state = .streaming
        keepsUpstream = head.keepAlive
        decoder = BodyDecoder(head.framing)
        decoderFraming = head.framing
        deadline.arm(after: terms.timeout)
        isStream = terms.isLeased || ResponseFilter.isEventStream(head)
        let framing: ResponseFraming
        switch head.framing {
        case .none: framing = .none
        case .length(let count): framing = .length(count)
        case .chunked, .untilClose: framing = .stream
        }
        // HEAD and 304 may say how long a body would be; nothing else without a body may.
        let keepsLength = head.framing == .none && (isHead || head.status == 304)
        writer.startResponse(
            ResponseFilter.head(of: head, ownsCORS: terms.ownsCORS, keepsLength: keepsLength), framing: framing)
    }

    /// An answer that is not complete after its first burst of bytes can be ended early: a stream by whatever ends its
    /// lease, any other only by a revocation.
    private func takeLease() {
        guard leaseID == nil,
            var lease = terms.admitted.leaseTerms(
                clockSkew: services.configuration.tokens.clockSkew,
                maxLifetime: services.configuration.webSocket.maxLifetime, now: receivedAt)
        else { return }
        if !isStream {
            lease.expiresAt = nil
            lease.endsAt = .max
        }
        leaseID = loop.leases.insert(lease, holder: self)
    }

    private func readBody() -> Bool {
        guard writer.isClientWritable else {
            isClientBlocked = true
            return false
        }
        switch decoder.next(&inbound, maxSlice: 64 * 1024) {
        case .needMoreData:
            if hasUpstreamEnded { endWithUpstream() }
            return false
        case .data(let part):
            deadline.arm(after: terms.timeout)
            writer.sendBody(part)
            return state == .streaming
        case .end:
            let clean = keepsUpstream && isRequestDone && inbound.readableBytes == 0
            release(clean: clean)
            complete()
            return false
        case .failed:
            finish(clean: false)
            writer.abortResponse()
            return false
        }
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

    private func tell(_ fault: UpstreamFault, of member: Int) {
        lastFault = fault
        services.upstreamLog.failed(pool.target(member), fault)
    }

    private func fail(_ problem: Problem) {
        guard state != .done else { return }
        finish(clean: false)
        writer.respond(problem)
    }

    private func complete() {
        finish(clean: false)
        writer.finishResponse()
    }

    private func release(clean: Bool) {
        upstream?.release(clean: clean)
        upstream = nil
    }

    private func finish(clean: Bool) {
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
