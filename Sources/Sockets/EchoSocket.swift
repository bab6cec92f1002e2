import HTTPWire
import NIOCore

/// The diagnostic echo: what comes in goes out, message by message.
package final class EchoSocket: SocketApplication {
    private weak var socket: EmbeddedSocket?

    package init() {}

    package func opened(_ socket: EmbeddedSocket) { self.socket = socket }
    package func received(text: ByteBuffer) { socket?.send(.text, text) }
    package func received(binary: ByteBuffer) { socket?.send(.binary, binary) }
    package func closed() {}
    package var wantsMessages: Bool { true }
}
