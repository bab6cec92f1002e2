import EdgeCore
import HTTPWire
import NIOCore

/// The current user of an upstream connection. Every call comes on the connection's event loop.
package protocol UpstreamUser: AnyObject {
    /// Bytes from the upstream, as they came.
    func upstreamReceived(_ bytes: ByteBuffer)
    /// A burst of reads is over: the time to flush.
    func upstreamReceivedAll()
    /// The upstream's channel takes bytes again.
    func upstreamBecameWritable()
    /// The upstream has closed or failed. Called at most once, and not after `release`.
    func upstreamClosed()
    /// Whether more bytes can be processed now.
    var wantsUpstreamBytes: Bool { get }
}

/// One connection to an upstream, lent to one exchange at a time: does what ``UpstreamConnectionMachine`` decides.
/// Confined to its event loop, which is that of the client it is lent for.
package final class UpstreamConnection: ChannelInboundHandler, ChannelOutboundHandler, Flushable, DirectWriter {
    /// Bytes of the upstream.
    package typealias InboundIn = ByteBuffer
    /// Not written to by other handlers.
    package typealias OutboundIn = ByteBuffer
    /// Bytes for the upstream.
    package typealias OutboundOut = ByteBuffer

    /// The channel of the connection.
    package let channel: any Channel
    /// Which of the pool's upstreams it leads to.
    package let member: Int
    private let pool: UpstreamPool
    private var context: ChannelHandlerContext?
    private var user: (any UpstreamUser)?
    private var machine = UpstreamConnectionMachine()
    private var isReadPending = false
    /// Since when it has been idle.
    package var idleSince = NIODeadline.now()
    /// Whether its use counts towards the limit of requests at its upstream.
    var isCounted = false

    /// - Parameter socket: the channel's socket, where it is known.
    package init(
        channel: any Channel, pool: UpstreamPool, member: Int, isTLS: Bool, socket: NIOBSDSocket.Handle? = nil
    ) {
        self.channel = channel
        self.output = DirectOutput(
            isPlain: !isTLS, socket: socket.map { ChannelSocket(channel, handle: $0) })
        self.pool = pool
        self.member = member
    }

    /// Whether it is not closed, according to the last events; asking the channel would cost more.
    package var isOpen: Bool { machine.isOpen }
    /// The fault by which it ended, a reset for example; nil where it is open or the upstream has closed it in order.
    package var fault: (any Error)? { machine.fault }
    /// Whether it ended by a fault.
    package var isBroken: Bool { machine.fault != nil }

    /// Whether the upstream takes bytes, according to the last event.
    package private(set) var isWritable = true
    /// All bytes for the upstream are written through this.
    package var output: DirectOutput

    /// Gives the connection to `user`, which gets all calls from here on.
    package func lend(to user: any UpstreamUser) {
        self.user = user
        machine.lend()
        resumeReading()
    }

    /// Ends its use. A clean connection goes back to the pool, any other is closed.
    package func release(clean: Bool) {
        guard machine.release() else { return }
        user = nil
        if clean {
            pool.giveBack(self)
            resumeReading()
        } else {
            pool.discard(self)
        }
    }

    /// Writes bytes, which are sent with the next ``flush()``. They are dropped when the connection is closed.
    package func write(_ bytes: ByteBuffer) {
        if let context { write(bytes, to: context) }
    }

    /// Sends a part of a request.
    package func send(_ action: UnsentRequest.Action, head: ByteBuffer, isChunked: Bool) {
        switch action {
        case .sendHead: write(head)
        case .sendBody(let part):
            guard isChunked else { return write(part) }
            var size = ByteBuffer()
            HeadWriter.chunkHeader(length: part.readableBytes, to: &size)
            write(size)
            write(part)
            write(HeadWriter.chunkEnd)
        case .sendEnd: write(HeadWriter.lastChunk)
        case .flush: flush()
        }
    }

    /// Flushes once the loop has processed everything that has arrived.
    package func flush() {
        if machine.flush() { pool.flushes.add(self) }
    }

    /// To be called by the loop's ``FlushQueue``.
    package func flushNow() {
        machine.flushed()
        if let context { flushOutput(context) }
    }

    /// Closes at once. Bytes that have not been flushed are lost.
    package func close() {
        machine.close()
        channel.close(promise: nil)
    }

    /// Has TCP's probes notice an upstream that has vanished.
    package func armKeepAlive() {
        if let socket = output.knownSocket { KeepAlive.arm(socket) } else { KeepAlive.arm(channel) }
    }

    /// Continues reading, where it stopped because the user could not take more and now can.
    package func resumeReading() {
        if isReadPending, let context, user?.wantsUpstreamBytes ?? true {
            isReadPending = false
            context.read()
        }
    }

    // MARK: Channel events

    /// Keeps the context, for writing.
    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    /// Nothing can be written any more.
    package func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Holds the read back while the user takes no bytes, which slows the upstream down.
    package func read(context: ChannelHandlerContext) {
        if user?.wantsUpstreamBytes ?? true { context.read() } else { isReadPending = true }
    }

    /// Hands what was written to the kernel.
    package func flush(context: ChannelHandlerContext) { flushOutput(context) }

    /// Gives bytes to the user. A connection on which bytes come that no request has asked for is closed.
    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch machine.received() {
        case .give: user?.upstreamReceived(unwrapInboundIn(data))
        case .closeIdle:
            pool.forget(self)
            close()
        case .closeLent:
            close()
            user?.upstreamClosed()
        case .drop: break
        }
    }

    /// A burst of reads is over.
    package func channelReadComplete(context: ChannelHandlerContext) {
        user?.upstreamReceivedAll()
        context.fireChannelReadComplete()
    }

    /// Lets the user go on once the upstream takes bytes.
    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if isWritable { user?.upstreamBecameWritable() }
        context.fireChannelWritabilityChanged()
    }

    /// The upstream has closed: the user is told, and an idle connection leaves the pool.
    package func channelInactive(context: ChannelHandlerContext) {
        switch machine.closed() {
        case .tellUser: user?.upstreamClosed()
        case .forget: pool.forget(self)
        case .none: break
        }
        context.fireChannelInactive()
    }

    /// Keeps the first error as the cause, and closes.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        machine.failed(error)
        context.close(promise: nil)
    }
}
