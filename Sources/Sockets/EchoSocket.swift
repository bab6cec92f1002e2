import HTTPWire
import NIOCore

/// The diagnostic echo: sends every message back. It always takes messages: the answer to one is written before the
/// next is decoded, and a client that does not read is not read from.
package final class EchoSocket: SocketApplication {
    private weak var socket: EmbeddedSocket?

    /// Creates the application.
    package init() {}

    /// Keeps the socket, for the answers.
    package func opened(_ socket: EmbeddedSocket) { self.socket = socket }
    /// Sends the text back.
    package func received(text: ByteBuffer) { socket?.send(.text, text) }
    /// Sends the bytes back.
    package func received(binary: ByteBuffer) { socket?.send(.binary, binary) }
    /// Does nothing: the echo keeps nothing.
    package func closed() {}
    /// Always true: each message is answered before the next one is read.
    package var wantsMessages: Bool { true }
}
