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
    /// Drops the bytes.
    package func received(_ bytes: ByteBuffer) {}
    /// Does nothing: nothing was written.
    package func receivedAll() {}
    /// Does nothing: the Close is all that is sent.
    package func clientBecameWritable() {}
    /// Does nothing: the tunnel holds nothing.
    package func clientGone() {}
    /// Does nothing: the connection is being closed already.
    package func drain() {}
    /// Always true, so that the client's end is noticed.
    package var wantsBytes: Bool { true }
}
