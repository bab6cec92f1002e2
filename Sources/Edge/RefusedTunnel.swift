import EdgeCore
import NIOCore
import Sockets

/// A socket that was refused by a close frame: drops all bytes until the client has gone.
package final class RefusedTunnel: Tunnel {
    private let deadlines: DeadlineWheel

    /// Creates the tunnel.
    package init(deadlines: DeadlineWheel) { self.deadlines = deadlines }

    /// The Close has been written together with the 101: the connection ends once it was sent.
    package func opened(on channel: any Channel) { SocketEnding.close(channel, on: deadlines) }
    package func received(_ bytes: ByteBuffer) {}
    package func receivedAll() {}
    package func clientBecameWritable() {}
    package func clientGone() {}
    package func drain() {}
    package var wantsBytes: Bool { true }
}
