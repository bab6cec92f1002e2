import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection that has carried no stream for a while, or that has none left when the gateway stops.
final class StreamWatch: DeadlineHolder {
    private let channel: any Channel
    private let idleTimeout: TimeAmount
    private let deadline: ConnectionDeadline
    private var open = 0
    private var isDraining = false

    init(channel: any Channel, loop: LoopState, idleTimeout: TimeAmount) {
        self.channel = channel
        self.idleTimeout = idleTimeout
        self.deadline = ConnectionDeadline(loop: channel.eventLoop)
        loop.streamParents[ObjectIdentifier(self)] = self
        deadline.arm(after: idleTimeout, for: self)
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            loop.streamParents[ObjectIdentifier(self)] = nil
            self.deadline.cancel()
        }
    }

    func opened(_ stream: any Channel) {
        open += 1
        deadline.rest()
        stream.closeFuture.assumeIsolated().whenComplete { _ in
            self.open -= 1
            self.rest()
        }
    }

    /// No stream is worth waiting for any more but those that are open.
    func drain() {
        isDraining = true
        rest()
    }

    func deadlinePassed() { channel.close(promise: nil) }

    private func rest() {
        guard open == 0, channel.isActive else { return }
        // The last answers may still be on their way out.
        deadline.arm(after: isDraining ? .milliseconds(100) : idleTimeout, for: self)
    }
}

/// Closes an HTTP/2 connection whose peer broke the protocol; the goodbye has been written by then.
///
/// Left open, it would be answered one goodbye for every further frame. Faults of one stream end that stream alone.
final class BrokenConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOHTTP2Errors.StreamError { return }
        context.close(promise: nil)
    }
}
