import EdgeCore
import NIOCore
import Sockets

/// What a socket is after a refusal by close frame: nothing comes in or out until the client has gone.
package final class RefusedTunnel: Tunnel {
    private let deadlines: DeadlineWheel

    package init(deadlines: DeadlineWheel) { self.deadlines = deadlines }

    package func opened(on channel: any Channel) { SocketEnding.close(channel, on: deadlines) }
    package func received(_ bytes: ByteBuffer) {}
    package func receivedAll() {}
    package func clientBecameWritable() {}
    package func clientGone() {}
    package func drain() {}
    package var wantsBytes: Bool { true }
}
