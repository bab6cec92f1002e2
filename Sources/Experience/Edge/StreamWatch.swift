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
        self.deadline = ConnectionDeadline(loop.deadlines)
        loop.streamParents[ObjectIdentifier(self)] = self
        deadline.arm(after: idleTimeout, for: self)
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            loop.streamParents[ObjectIdentifier(self)] = nil
            self.deadline.rest()
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

/// Closes an HTTP/2 connection whose peer goes on breaking the protocol.
///
/// After a fault of the connection the peer has been told goodbye, and is told again for every further frame that it
/// sends. Faults of single streams are reported in the same way, so it is their number that decides.
final class BrokenConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private static let maxFaults = 100
    private var faults = 0

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        faults += 1
        if faults > Self.maxFaults { context.close(promise: nil) }
    }
}
