import HTTPWire
import NIOCore

/// The diagnostic echo: sends every message back. It always takes messages: the answer to one is written before the
/// next is decoded, and a client that does not read is not read from.
package final class EchoSocket: SocketApplication {
    private weak var socket: EmbeddedSocket?

    /// Creates the application.
    package init() {}

    package func opened(_ socket: EmbeddedSocket) { self.socket = socket }
    package func received(text: ByteBuffer) { socket?.send(.text, text) }
    package func received(binary: ByteBuffer) { socket?.send(.binary, binary) }
    package func closed() {}
    package var wantsMessages: Bool { true }
}
