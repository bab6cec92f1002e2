import EdgeCore
import NIOCore

/// Is placed below HTTP/2 in the pipeline, and closes the connection when everything that HTTP/2 has written has been
/// sent.
final class HTTP2Output: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// How long a peer may take to close its side.
    private static let patience = TimeAmount.milliseconds(200)

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes when everything written so far has been sent, and writes nothing after it.
    func closeBehindOutput() {
        guard let context else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: written)
        let channel = context.channel
        written.futureResult.whenComplete { _ in
            channel.close(promise: nil)
            // TLS waits for the peer's close_notify, which a peer that has sent GOAWAY need not send.
            channel.eventLoop.scheduleTask(in: Self.patience) {
                if channel.isActive { channel.triggerUserOutboundEvent(TransportEnd(), promise: nil) }
            }
        }
    }
}
