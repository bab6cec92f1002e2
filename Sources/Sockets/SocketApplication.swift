import NIOCore

/// What speaks over an embedded socket. Every call comes on the socket's event loop.
package protocol SocketApplication: AnyObject {
    func opened(_ socket: EmbeddedSocket)
    func received(text: ByteBuffer)
    func received(binary: ByteBuffer)
    /// The socket is gone. Called once.
    func closed()
    /// Whether another message can be taken now.
    var wantsMessages: Bool { get }
}
