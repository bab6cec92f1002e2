import NIOCore

/// The application on an embedded socket. Every call comes on the socket's event loop.
package protocol SocketApplication: AnyObject {
    /// The client has got its 101; messages may be sent from here on.
    func opened(_ socket: EmbeddedSocket)
    /// A whole text message, which is valid UTF-8.
    func received(text: ByteBuffer)
    /// A whole binary message.
    func received(binary: ByteBuffer)
    /// The socket is gone. Called once.
    func closed()
    /// Whether another message can be taken now.
    var wantsMessages: Bool { get }
}
