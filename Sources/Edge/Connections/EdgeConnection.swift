import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// One client connection, or one stream of HTTP/2: does what ``ConnectionMachine`` decides.
///
/// Gives each request to ``Dispatcher``, which finds its ``Exchange``, and writes the answers: itself as HTTP/1.1,
/// through an ``HTTP2Stream`` as HTTP/2. After an upgrade its bytes belong to a ``Tunnel``. Confined to its event loop.
/// A connection holds one request at a time; those that the client sends after it wait in its machine.
package final class EdgeConnection: ChannelInboundHandler, ChannelOutboundHandler, Flushable, DirectWriter {
    /// Bytes of the client.
    package typealias InboundIn = ByteBuffer
    /// Bytes that a tunnel's application writes.
    package typealias OutboundIn = ByteBuffer
    /// Bytes for the client.
    package typealias OutboundOut = ByteBuffer

    /// What the configuration said when the current request began.
    private(set) var snapshot: EdgeSnapshot
    /// What every connection shares.
    package var services: EdgeServices { snapshot.services }
    /// The state of the event loop.
    package let loop: LoopState
    /// The client's channel.
    package let channel: any Channel
    /// Where the connection comes from.
    package let origin: ConnectionOrigin
    /// The time limit that the machine has asked for.
    let deadline: ConnectionDeadline
    /// The time limit of the exchange, which the exchange sets and cancels.
    package let exchangeDeadline: ConnectionDeadline

    /// Decides everything about the connection; nothing else keeps its state.
    var machine: ConnectionMachine
    /// Frames the answer as HTTP/1.1.
    var encoder = AnswerEncoder()
    /// Frames the answer, where this is a stream of HTTP/2.
    var stream: HTTP2Stream?
    /// Nil once the handler has been removed: then nothing can be written.
    var context: ChannelHandlerContext?
    /// What answers the current request; nil between requests and once the answer is complete.
    var exchange: (any Exchange)?
    /// What the connection's bytes belong to after an upgrade.
    var tunnel: (any Tunnel)?
    /// The id of the request being answered.
    var requestID: RequestID
    /// What the access log and the metrics will say of the request.
    var record = RequestRecord()
    /// Fields of the current answer that do not depend on what it is: those of CORS, and of the route's limit.
    var answerFields: AnswerFields?
    /// All bytes for the client are written through this.
    package var output: DirectOutput
    /// Whether the connection has failed, and was not closed properly.
    package internal(set) var wasReset = false
    private var isActing = false
    var isReadPending = false
    /// Whether the channel takes bytes, according to the last event; asking the channel would cost more.
    var isWritable = true
    private(set) var isFlushPending = false

    init(snapshot: EdgeSnapshot, loop: LoopState, channel: any Channel, origin: ConnectionOrigin) {
        self.snapshot = snapshot
        self.loop = loop
        self.channel = channel
        self.origin = origin
        self.machine = ConnectionMachine(limits: snapshot.services.wireLimits, isStream: origin.isStream)
        self.requestID = loop.nextRequestID()
        self.output = DirectOutput(isPlain: !origin.isTLS && !origin.isStream)
        self.deadline = ConnectionDeadline(loop.deadlines)
        self.exchangeDeadline = ConnectionDeadline(loop.deadlines)
    }

    /// The event loop of the channel.
    package var eventLoop: any EventLoop { channel.eventLoop }
    /// The time limits of the loop.
    package var deadlines: DeadlineWheel { loop.deadlines }
    /// The current time in the format of `Date`.
    package var date: String { loop.date() }
    /// Whether the client takes bytes. A stream's window opens and closes without an event for each change, so its
    /// channel is asked.
    package var isClientWritable: Bool { origin.isStream ? channel.isWritable : isWritable }
    /// True for a stream of HTTP/2.
    package var opensTunnelOnSuccess: Bool { origin.isStream }
    /// False for a stream of HTTP/2, whose field values SwiftNIO keeps as text.
    package var takesAnyBytes: Bool { !origin.isStream }
    /// How fields are sent: as pairs over HTTP/2, as lines over HTTP/1.1.
    package var answerForm: AnswerFields.Form { origin.isStream ? .pairs : .lines }
    /// The bytes that have arrived after the head of the request being answered.
    var inbound: ByteBuffer { machine.inbound }

    // MARK: Actions of the machine

    /// Carries out the actions that are due, after every event, and reads on where bytes are wanted. An action that
    /// causes an event does not act again; the loop that runs takes it up.
    func act() {
        guard !isActing else { return }
        isActing = true
        while let action = machine.next() { perform(action) }
        isActing = false
        resumeReading()
    }

    private func perform(_ action: ConnectionMachine.Action) {
        switch action {
        case .dispatch(let head): dispatch(head)
        case .refuse(let problem):
            beginRequest()
            respond(problem)
        case .respond(let problem): respond(problem)
        case .giveBody(let part):
            deadline.arm(after: services.idleTimeout)
            record.bytesIn += Int64(part.readableBytes)
            exchange?.received(body: part)
        case .giveEnd: exchange?.receivedEnd()
        case .dropExchange:
            let exchange = exchange.take()
            exchange?.clientGone()
        case .arm(let timer): arm(timer)
        case .finishOutput: finishOutput()
        case .closeOutput: context?.close(mode: .output, promise: nil)
        case .close:
            let context = context
            if isFlushPending { flushNow() }
            letGo()
            context?.close(promise: nil)
        }
    }

    private func beginRequest() {
        if let current = loop.snapshot { snapshot = current }
        requestID = loop.nextRequestID()
        answerFields = nil
        record = RequestRecord(receivedAt: loop.now(), startedAt: .now())
    }

    private func dispatch(_ head: RequestHead) {
        deadline.arm(after: services.idleTimeout)
        beginRequest()
        let exchange = Dispatcher(connection: self).exchange(for: head)
        guard machine.dispatched(hasExchange: exchange != nil) else {
            exchange?.clientGone()
            return
        }
        guard let exchange else { return }
        self.exchange = exchange
        if exchange.wantsContinueFromGateway { sendContinue() }
        exchange.start()
    }

    private func arm(_ timer: ConnectionMachine.Timer) {
        switch timer {
        case .idle: deadline.arm(after: services.idleTimeout)
        case .head: deadline.arm(after: services.headerTimeout)
        case .headAtMost: deadline.armIfEarlier(after: services.headerTimeout)
        case .moment: deadline.arm(after: .milliseconds(500))
        }
    }

    /// Waits until everything written has been sent, which a slow reader may delay, before the client has to close.
    private func finishOutput() {
        guard let context else { return }
        deadline.arm(after: services.idleTimeout)
        let written = eventLoop.makePromise(of: Void.self)
        flushNow()
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        let me = NIOLoopBound(self, eventLoop: eventLoop)
        written.futureResult.whenComplete { _ in
            me.value.machine.outputFinished()
            me.value.act()
        }
    }

    /// Releases everything, when no answer is possible any more.
    func letGo() {
        deadline.cancel()
        let (tunnel, exchange) = (self.tunnel, self.exchange)
        self.tunnel = nil
        self.exchange = nil
        tunnel?.clientGone()
        exchange?.clientGone()
        endRecord()
    }

    // MARK: Reading

    /// Bytes of the connection, or of the stream's body.
    func received(_ bytes: ByteBuffer) {
        if let tunnel {
            record.bytesIn += Int64(bytes.readableBytes)
            return tunnel.received(bytes)
        }
        machine.received(bytes)
        act()
    }

    /// The head of a stream's request. Where `isWhole`, no body follows.
    func received(head: RequestHead, isWhole: Bool) {
        machine.received(head: head, isWhole: isWhole)
        act()
    }

    /// The head of a stream's request is malformed or too long. The error is nil where HTTP/2's own rules forbid it.
    func receivedUnreadableHead(_ error: WireError?, isHead: Bool) {
        machine.receivedUnreadableHead(error, isHead: isHead)
        act()
    }

    /// A stream's request is complete, or ends in trailers that make it malformed.
    func receivedEnd(_ fault: WireError? = nil) {
        machine.receivedEnd(fault)
        act()
    }

    var wantsBytes: Bool {
        if let tunnel { tunnel.wantsBytes } else { machine.wantsBytes }
    }

    /// Carries out the read that was held back, if bytes are wanted now.
    func resumeReading() {
        if isReadPending, let context, wantsBytes {
            isReadPending = false
            context.read()
        }
    }

    /// The client has closed its side.
    func inputClosed() {
        machine.inputClosed()
        act()
    }

    // MARK: Flushing

    /// Flushes once the loop has processed everything that has arrived.
    func flush() {
        guard !isFlushPending else { return }
        isFlushPending = true
        loop.flushes.add(self)
    }

    /// To be called by the loop's ``FlushQueue``, or where bytes must not wait.
    package func flushNow() {
        isFlushPending = false
        if let context { flushAll(context) }
    }

    /// Hands everything written to the kernel, or to HTTP/2's frames.
    func flushAll(_ context: ChannelHandlerContext) {
        // Frames do not go through `output`.
        if stream != nil { context.flush() } else { flushOutput(context) }
    }
}
