import NIOCore

/// The application on an embedded socket. Every call comes on the socket's event loop.
package protocol SocketApplication: AnyObject {
    /// The client has got its 101; messages may be sent from here on.
    func opened(_ socket: EmbeddedSocket)
    /// A whole text message, which is valid UTF-8. At most `websocket.max_message` bytes. Only called while
    /// ``wantsMessages`` was true.
    func received(text: ByteBuffer)
    /// A whole binary message.
    func received(binary: ByteBuffer)
    /// The socket is gone. Called once. Nothing can be sent any more.
    func closed()
    /// Whether another message can be taken now. While it is false, the client is not read from. When it becomes true
    /// again, the application calls ``EmbeddedSocket/resume()``.
    var wantsMessages: Bool { get }
}
