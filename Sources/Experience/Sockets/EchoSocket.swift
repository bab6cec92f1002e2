import HTTPWire
import NIOCore

/// The diagnostic echo: what comes in goes out, message by message.
final class EchoSocket: SocketApplication {
    private weak var socket: EmbeddedSocket?

    func opened(_ socket: EmbeddedSocket) { self.socket = socket }
    func received(text: ByteBuffer) { socket?.send(.text, text) }
    func received(binary: ByteBuffer) { socket?.send(.binary, binary) }
    func closed() {}
    var wantsMessages: Bool { true }
}
