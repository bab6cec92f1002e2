import Answers
import EdgeCore
import HTTPWire
import NIOCore

/// One client connection (or one HTTP/2 stream, whose frames have been put back into HTTP/1.1 bytes).
///
/// Reads heads and bodies with `HTTPWire`, hands each request to `Dispatcher`, which gives it an ``Exchange``, and writes
/// the answers in order. After an upgrade its bytes belong to a ``Tunnel``.
package final class EdgeConnection: ChannelInboundHandler, ChannelOutboundHandler, Flushable, DirectWriter {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

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

    package let services: EdgeServices
    package let loop: LoopState
    package let channel: any Channel
    package let origin: ConnectionOrigin

    var phase = Phase.head
    package var scanner: HeadScanner
    package var decoder = BodyDecoder(.none)
    var inbound = ByteBuffer()
    package var context: ChannelHandlerContext?
    var isProcessing = false
    var isBodyPaused = false
    var isReadPending = false
    var isInputClosed = false
    var isOutputClosed = false
    var discardBudget = 0
    package let deadline: ConnectionDeadline
    package let exchangeDeadline: ConnectionDeadline

    package var exchange: (any Exchange)?
    var tunnel: (any Tunnel)?
    /// The head of the request being answered.
    var isHeadRequest = false
    var isVersion10 = false
    var isAwaitingContinue = false
    var keepsAlive = true
    var isAnswerStarted = false
    var isAnswerDone = false
    var framing = ResponseFraming.none
    /// CORS fields of the current answer, as they are written.
    var answerFields: ByteBuffer?
    package var requestID: RequestID
    /// The head of an answer that has not been written yet: a small body goes out in the same piece.
    var pendingHead: ByteBuffer?
    /// As the last event told; asking the channel costs more.
    private var isWritable = true
    private var isFlushPending = false
    /// What goes to the client goes through this.
    package var output: DirectOutput
    package private(set) var wasReset = false
    package var isDraining = false

    package init(services: EdgeServices, loop: LoopState, channel: any Channel, origin: ConnectionOrigin) {
        self.services = services
        self.loop = loop
        self.channel = channel
        self.origin = origin
        self.scanner = HeadScanner(limits: services.wireLimits)
        self.requestID = loop.nextRequestID()
        self.output = DirectOutput(isPlain: !origin.isTLS && !origin.isStream)
        self.deadline = ConnectionDeadline(loop.deadlines)
        self.exchangeDeadline = ConnectionDeadline(loop.deadlines)
    }

    package var eventLoop: any EventLoop { channel.eventLoop }
    package var deadlines: DeadlineWheel { loop.deadlines }
    package var date: String { loop.date() }
    /// A stream's window is opened and closed without an event for each.
    package var isClientWritable: Bool { origin.isStream ? channel.isWritable : isWritable }
    package var opensTunnelOnSuccess: Bool { origin.isStream }
    package var takesAnyBytes: Bool { !origin.isStream }

    // MARK: Flushing

    /// Takes effect when the loop is through with what has arrived.
    package func flush() {
        guard !isFlushPending else { return }
        isFlushPending = true
        loop.flushes.add(self)
    }

    package func flushNow() {
        isFlushPending = false
        if let context { flushOutput(context) }
    }

    /// Before the channel closes: what was written before has been sent.
    func flushIfPending() {
        if isFlushPending { flushNow() }
    }

    // MARK: Channel events

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop.connections[ObjectIdentifier(self)] = self
        deadline.arm(after: services.headerTimeout, for: self)
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        loop.connections[ObjectIdentifier(self)] = nil
        deadline.cancel()
        exchangeDeadline.cancel()
        self.context = nil
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
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

    package func channelReadComplete(context: ChannelHandlerContext) {
        if phase == .tunnel { tunnel?.receivedAll() }
        context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
        if wantsBytes { context.read() } else { isReadPending = true }
    }

    // A tunnel's application writes to the channel, and must not overtake what is held.

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if promise == nil {
            write(unwrapOutboundIn(data), to: context)
        } else {
            write(data, promise: promise, to: context)
        }
    }

    package func flush(context: ChannelHandlerContext) { flushOutput(context) }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if isWritable {
            if let tunnel { tunnel.clientBecameWritable() } else { exchange?.clientBecameWritable() }
        }
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        goAway()
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            inputClosed(context: context)
        } else if let problem = event as? Problem, phase == .head {
            // A head that could not even be put into HTTP/1.1's words.
            refuseHead(problem)
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset or a TLS fault: the channel is of no more use, and neither is what its client holds.
        wasReset = true
        goAway()
        if origin.isStream { context.close(promise: nil) } else { context.closeWithoutPeer() }
    }
}
