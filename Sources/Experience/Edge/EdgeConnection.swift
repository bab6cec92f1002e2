import HTTPWire
import NIOCore

/// One client connection (or one HTTP/2 stream, whose frames have been put back into HTTP/1.1 bytes).
///
/// Reads heads and bodies with `HTTPWire`, hands each request to `Dispatcher`, which gives it an ``Exchange``, and writes
/// the answers in order. After an upgrade its bytes belong to a ``Tunnel``.
final class EdgeConnection: ChannelInboundHandler, ChannelOutboundHandler, ResponseWriter, DeadlineHolder {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Where the connection is between two requests' bytes.
    enum Phase {
        /// Reading a head.
        case head
        /// Reading a body.
        case body
        /// The request is complete, its answer is not.
        case answering
        case tunnel
        /// Nothing more is read for sense; what arrives is thrown away until the client has closed.
        case lingering
        case closed
    }

    let services: EdgeServices
    let loop: LoopState
    let channel: any Channel
    let origin: ConnectionOrigin

    var phase = Phase.head
    private var scanner: HeadScanner
    private var decoder = BodyDecoder(.none)
    private var inbound = ByteBuffer()
    private var context: ChannelHandlerContext?
    private var isProcessing = false
    private var isBodyPaused = false
    private var isReadPending = false
    private var isInputClosed = false
    private var isOutputClosed = false
    private var discardBudget = 0
    private let deadline: ConnectionDeadline
    let exchangeDeadline: ConnectionDeadline

    private var exchange: (any Exchange)?
    private var tunnel: (any Tunnel)?
    /// The head of the request being answered.
    private var isHeadRequest = false
    private var isVersion10 = false
    private var isAwaitingContinue = false
    private var keepsAlive = true
    private var isAnswerStarted = false
    private var isAnswerDone = false
    private var framing = ResponseFraming.none
    /// CORS fields of the current answer, as they are written.
    var answerFields: ByteBuffer?
    var requestID = ""
    private var isDraining = false

    init(services: EdgeServices, loop: LoopState, channel: any Channel, origin: ConnectionOrigin) {
        self.services = services
        self.loop = loop
        self.channel = channel
        self.origin = origin
        self.scanner = HeadScanner(limits: services.wireLimits)
        self.deadline = ConnectionDeadline(loop: channel.eventLoop)
        self.exchangeDeadline = ConnectionDeadline(loop: channel.eventLoop)
    }

    var eventLoop: any EventLoop { channel.eventLoop }
    var isClientWritable: Bool { channel.isWritable }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop.connections[ObjectIdentifier(self)] = self
        deadline.arm(after: services.headerTimeout, for: self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        loop.connections[ObjectIdentifier(self)] = nil
        deadline.cancel()
        exchangeDeadline.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch phase {
        case .tunnel:
            tunnel?.received(bytes)
            return
        case .lingering:
            discardBudget -= bytes.readableBytes
            if discardBudget < 0 { context.close(promise: nil) }
            return
        case .closed:
            return
        case .head, .body, .answering:
            if inbound.readableBytes == 0 {
                inbound = bytes
            } else {
                inbound.writeBuffer(&bytes)
            }
        }
        process()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if phase == .tunnel { tunnel?.receivedAll() }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if wantsBytes { context.read() } else { isReadPending = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            if let tunnel { tunnel.clientBecameWritable() } else { exchange?.clientBecameWritable() }
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        goAway()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            inputClosed(context: context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset or a TLS fault: the channel is of no more use.
        context.close(promise: nil)
    }

    // MARK: Reading

    /// Whether more bytes are of use now: a request whose answer is under way may be followed by a bounded amount.
    private var wantsBytes: Bool {
        switch phase {
        case .head, .lingering: true
        case .body: !isBodyPaused
        case .answering: inbound.readableBytes < 16 * 1024
        case .tunnel: tunnel?.wantsBytes ?? false
        case .closed: true
        }
    }

    /// Asks for what `read` held back, if it is wanted by now.
    func resumeReading() {
        if isReadPending, wantsBytes, let context {
            isReadPending = false
            context.read()
        }
    }

    private func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer {
            isProcessing = false
            resumeReading()
        }
        while step() {}
    }

    /// One step of the parse; false when there is nothing to do until something arrives.
    private func step() -> Bool {
        switch phase {
        case .head: return readHead()
        case .body: return readBody()
        case .answering:
            guard isAnswerDone else { return false }
            return nextRequest()
        case .tunnel, .lingering, .closed:
            return false
        }
    }

    private func readHead() -> Bool {
        if isDraining {
            closeNow()
            return false
        }
        guard inbound.readableBytes > 0 else {
            if isInputClosed { closeNow() }
            return false
        }
        switch scanner.feed(&inbound) {
        case .needMoreData:
            deadline.arm(after: services.headerTimeout, onlyIfLater: false)
            if isInputClosed { closeNow() }
            return false
        case .failed(let error):
            refuseHead(Problem(wire: error))
            return false
        case .head(let head):
            begin(head)
            return true
        }
    }

    /// Answers a head that never became a request; nothing of the request before it may be left over.
    private func refuseHead(_ problem: Problem) {
        requestID = loop.nextRequestID()
        isHeadRequest = false
        isVersion10 = false
        isAwaitingContinue = false
        isAnswerStarted = false
        isAnswerDone = false
        answerFields = nil
        keepsAlive = false
        phase = .answering
        respond(problem)
    }

    private func begin(_ head: RequestHead) {
        deadline.arm(after: services.idleTimeout)
        requestID = loop.nextRequestID()
        isHeadRequest = head.knownMethod == .head
        isVersion10 = head.versionMinor == 0
        // A stream carries one request; its end is the end of the answer.
        keepsAlive = head.keepAlive && !origin.isStream
        isAwaitingContinue = head.expectContinue
        isAnswerStarted = false
        isAnswerDone = false
        isBodyPaused = false
        answerFields = nil
        decoder = BodyDecoder(head.framing)
        phase = .body
        discardBudget = 256 * 1024
        let exchange = Dispatcher(connection: self).exchange(for: head)
        if phase == .body, !isAnswerDone {
            self.exchange = exchange
            if isAwaitingContinue, exchange?.wantsContinueFromGateway == true { sendContinue() }
        }
    }

    private func readBody() -> Bool {
        if isBodyPaused && exchange != nil { return false }
        if isAnswerDone && isAwaitingContinue {
            // The client may or may not send the body it announced: only a new connection is safe.
            closeGracefully()
            return false
        }
        switch decoder.next(&inbound, maxSlice: 64 * 1024) {
        case .data(let part):
            isAwaitingContinue = false
            deadline.arm(after: services.idleTimeout)
            if let exchange {
                exchange.received(body: part)
            } else {
                discardBudget -= part.readableBytes
                if discardBudget < 0 {
                    closeGracefully()
                    return false
                }
            }
            return phase == .body || phase == .answering
        case .needMoreData:
            if isInputClosed { bodyFailed(Problem(.badMessage, detail: "The body ended early.")) }
            return false
        case .end:
            phase = .answering
            exchange?.receivedEnd()
            return true
        case .failed(let error):
            bodyFailed(Problem(wire: error))
            return false
        }
    }

    private func bodyFailed(_ problem: Problem) {
        keepsAlive = false
        phase = .answering
        let exchange = self.exchange
        self.exchange = nil
        exchange?.clientGone()
        if isAnswerDone {
            closeGracefully()
        } else if isAnswerStarted {
            closeNow()
        } else {
            respond(problem)
        }
    }

    private func nextRequest() -> Bool {
        exchange = nil
        guard keepsAlive, !isDraining else {
            closeGracefully()
            return false
        }
        phase = .head
        // What is read next goes into a buffer of its own: this one's storage belongs to the request that is over.
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
        deadline.arm(after: inbound.readableBytes > 0 ? services.headerTimeout : services.idleTimeout)
        return true
    }

    // MARK: ResponseWriter

    func pauseBody() { isBodyPaused = true }

    func resumeBody() {
        guard isBodyPaused else { return }
        isBodyPaused = false
        process()
        resumeReading()
    }

    /// The upstream or the API wants the body: tell a client that waits for leave to send it.
    func sendContinue() {
        guard isAwaitingContinue, !isAnswerStarted, let context else { return }
        isAwaitingContinue = false
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
    }

    func sendInterim(_ head: ByteBuffer, isContinue: Bool) {
        guard !isVersion10, !isAnswerStarted, let context else { return }
        // Any other interim answer leaves the client waiting for leave to send its body.
        if isContinue { isAwaitingContinue = false }
        context.writeAndFlush(wrapOutboundOut(head), promise: nil)
    }

    func startResponse(_ head: ByteBuffer, framing: ResponseFraming) {
        guard let context, !isAnswerStarted, phase != .closed else { return }
        isAnswerStarted = true
        self.framing = framing
        var out = head
        if isDraining || (isAwaitingContinue && phase == .body) { keepsAlive = false }
        switch framing {
        case .none: break
        case .length(let count): out.writeString("Content-Length: \(count)\r\n")
        case .stream:
            if isVersion10 { keepsAlive = false } else { out.writeStaticString("Transfer-Encoding: chunked\r\n") }
        }
        if var fields = answerFields { out.writeBuffer(&fields) }
        if !keepsAlive {
            out.writeStaticString("Connection: close\r\n")
        } else if isVersion10 {
            out.writeStaticString("Connection: keep-alive\r\n")
        }
        out.writeStaticString("\r\n")
        context.write(wrapOutboundOut(out), promise: nil)
    }

    func sendBody(_ bytes: ByteBuffer) {
        guard let context, isAnswerStarted, !isAnswerDone, !isHeadRequest, bytes.readableBytes > 0 else { return }
        deadline.arm(after: services.idleTimeout)
        switch framing {
        case .none: return
        case .length: context.write(wrapOutboundOut(bytes), promise: nil)
        case .stream:
            if isVersion10 {
                context.write(wrapOutboundOut(bytes), promise: nil)
                return
            }
            var size = ByteBuffer()
            size.writeString(String(bytes.readableBytes, radix: 16) + "\r\n")
            context.write(wrapOutboundOut(size), promise: nil)
            context.write(wrapOutboundOut(bytes), promise: nil)
            context.write(wrapOutboundOut(Self.lineEnd), promise: nil)
        }
    }

    func flushResponse() { context?.flush() }

    func finishResponse() {
        guard let context, isAnswerStarted, !isAnswerDone else { return }
        isAnswerDone = true
        exchange = nil
        if framing == .stream, !isVersion10, !isHeadRequest {
            context.write(wrapOutboundOut(Self.lastChunk), promise: nil)
        }
        context.flush()
        isBodyPaused = false
        if !keepsAlive, phase == .answering || phase == .body {
            closeGracefully()
        } else {
            process()
        }
    }

    func abortResponse() {
        guard phase != .closed else { return }
        exchange = nil
        closeNow()
    }

    func respond(_ problem: Problem) {
        guard phase != .closed, phase != .tunnel else { return }
        if isAnswerStarted { return abortResponse() }
        services.observe(problem, requestID: requestID)
        let body = problem.body(requestID: requestID, explain: services.explainsErrors)
        respond(status: problem.status, fields: problem.answerHeaders(), body: body)
    }

    /// A whole answer of the gateway's own.
    func respond(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
        guard !isAnswerStarted else { return }
        var head = AnswerHead.begin(status: status, date: loop.date())
        for field in fields { AnswerHead.write(field: field.name, field.value, to: &head) }
        AnswerHead.write(field: "X-Request-Id", requestID, to: &head)
        let hasBody = status != 204 && status != 304 && status >= 200
        startResponse(head, framing: hasBody ? .length(Int64(body.count)) : .none)
        if hasBody { sendBody(ByteBuffer(bytes: body)) }
        finishResponse()
    }

    /// From here on the connection is closed after the current answer.
    func closeAfterAnswer() { keepsAlive = false }

    func switchProtocols(_ head: ByteBuffer, to tunnel: any Tunnel) {
        guard let context, phase != .closed, !isAnswerStarted else { return tunnel.clientGone() }
        isAnswerStarted = true
        exchange = nil
        phase = .tunnel
        self.tunnel = tunnel
        deadline.cancel()
        context.writeAndFlush(wrapOutboundOut(head), promise: nil)
        tunnel.opened(on: channel)
        if inbound.readableBytes > 0 {
            let early = inbound
            inbound = ByteBuffer()
            tunnel.received(early)
            tunnel.receivedAll()
        }
        if isInputClosed {
            closeNow()
        } else if isDraining {
            tunnel.drain()
        }
        resumeReading()
    }

    // MARK: Endings

    /// The gateway stops: idle connections close now, others after their answer, tunnels say goodbye.
    func drain() {
        isDraining = true
        switch phase {
        case .head: closeNow()
        case .tunnel: tunnel?.drain()
        default: keepsAlive = false
        }
    }

    private func inputClosed(context: ChannelHandlerContext) {
        isInputClosed = true
        switch phase {
        case .head, .closed: context.close(promise: nil)
        case .lingering:
            // What is still on its way goes out first.
            if isOutputClosed { context.close(promise: nil) }
        case .tunnel: context.close(promise: nil)
        case .body: process()
        case .answering:
            // A client may shut down its side and wait for the answer; one that has part of a stream has gone.
            keepsAlive = false
            if isAnswerStarted { context.close(promise: nil) }
        }
    }

    func deadlinePassed() {
        switch phase {
        case .head:
            if inbound.readableBytes > 0 || scanner.isInsideHead {
                refuseHead(Problem(.badMessage, status: 408, detail: "The request head did not arrive in time."))
            } else {
                closeNow()
            }
        case .body where !isBodyPaused && exchange != nil && !isAnswerStarted:
            bodyFailed(Problem(.badMessage, status: 408, detail: "The request body did not arrive in time."))
        case .body where !isBodyPaused, .lingering:
            closeNow()
        case .answering where !channel.isWritable:
            closeNow()
        case .body, .answering:
            // The upstream has a time limit of its own.
            deadline.arm(after: services.idleTimeout)
        case .tunnel, .closed:
            break
        }
    }

    /// Closes after what was written has gone out, and reads on for a moment: a reset would destroy the answer.
    ///
    /// What was written may take a slow reader a while: only when it has gone out does the moment begin.
    private func closeGracefully() {
        guard phase != .closed, phase != .lingering, let context else { return }
        phase = .lingering
        inbound.clear()
        discardBudget = 1024 * 1024
        deadline.arm(after: services.idleTimeout)
        let written = eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        let me = NIOLoopBound(self, eventLoop: eventLoop)
        written.futureResult.whenComplete { _ in me.value.closeOutput() }
    }

    private func closeOutput() {
        guard phase == .lingering, let context else { return }
        if isInputClosed || (origin.isStream && decoder.isComplete) { return closeNow() }
        isOutputClosed = true
        deadline.arm(after: .milliseconds(500))
        // A stream has ended with its answer; a client that still sends is given the moment to see that.
        if origin.isStream { return }
        context.close(mode: .output, promise: nil)
    }

    private func closeNow() {
        guard phase != .closed else { return }
        let context = self.context
        goAway()
        context?.close(promise: nil)
    }

    private func goAway() {
        guard phase != .closed else { return }
        phase = .closed
        deadline.cancel()
        let tunnel = self.tunnel
        let exchange = self.exchange
        self.tunnel = nil
        self.exchange = nil
        inbound = ByteBuffer()
        tunnel?.clientGone()
        exchange?.clientGone()
    }

    private static let lineEnd = ByteBuffer(string: "\r\n")
    private static let lastChunk = ByteBuffer(string: "0\r\n\r\n")
}
