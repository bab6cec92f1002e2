import NIOCore

/// Takes over a connection after `101 Switching Protocols`. Every call comes on the connection's event loop.
package protocol Tunnel: AnyObject {
    /// The 101 has been written; `received` follows, first with the bytes that came after the request.
    func opened(on channel: any Channel)
    /// Bytes of the client.
    func received(_ bytes: ByteBuffer)
    /// A burst of reads is over: the time to flush.
    func receivedAll()
    /// The client's channel has become writable again.
    func clientBecameWritable()
    /// The client's side is closed. Called once.
    func clientGone()
    /// The gateway is stopping: send a Close with 1001 and end the connection.
    func drain()
    /// The route that the tunnel goes through no longer exists: send a Close with 4403 and end the connection.
    func routeGone()
    /// Whether the tunnel takes more of the client's bytes now; when it becomes true again the tunnel reads the
    /// channel.
    var wantsBytes: Bool { get }
}

extension Tunnel {
    /// Tunnels that go through no route need not know.
    package func routeGone() {}
}
