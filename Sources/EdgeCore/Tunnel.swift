import NIOCore

/// What a connection becomes after `101 Switching Protocols`. Every call comes on the connection's event loop.
package protocol Tunnel: AnyObject {
    /// The 101 has been written; `received` follows, first with what came behind the request.
    func opened(on channel: any Channel)
    func received(_ bytes: ByteBuffer)
    /// A burst of reads is over: the time to flush.
    func receivedAll()
    func clientBecameWritable()
    /// The client's side is closed. Called once.
    func clientGone()
    /// The gateway is stopping: say goodbye (1001) and close.
    func drain()
    /// Whether the tunnel takes more of the client's bytes now; when it becomes true again the tunnel reads the channel.
    var wantsBytes: Bool { get }
}
