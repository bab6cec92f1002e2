import NIOCore

/// Asks for the end of the connection below TLS.
package struct TransportEnd: Sendable {
    package init() {}
}

/// Stands below TLS and closes the connection when it is told to.
///
/// TLS answers a close with its own goodbye and then waits some seconds for the peer's. A peer that has ended the
/// connection without one will never send it.
package final class TransportEndHandler: ChannelOutboundHandler {
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    package init() {}

    package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?)
    {
        if event is TransportEnd {
            context.close(promise: promise)
        } else {
            context.triggerUserOutboundEvent(event, promise: promise)
        }
    }
}

extension ChannelHandlerContext {
    /// Closes a connection whose peer sends nothing more, without waiting for the peer's part in it.
    package func closeWithoutPeer() {
        close(promise: nil)
        if channel.isActive { triggerUserOutboundEvent(TransportEnd(), promise: nil) }
    }
}
