import NIOCore

/// The event that asks ``TransportEndHandler`` to close the connection below TLS.
package struct TransportEnd: Sendable {
    /// Creates the event.
    package init() {}
}

/// Is placed below TLS in the pipeline and closes the connection when asked to.
///
/// TLS answers a close with a `close_notify` and then waits some seconds for the peer's. A peer that has ended the
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
    /// Closes a connection whose peer has ended it, without waiting for the peer's `close_notify`.
    package func closeWithoutPeer() {
        close(promise: nil)
        if channel.isActive { triggerUserOutboundEvent(TransportEnd(), promise: nil) }
    }
}
