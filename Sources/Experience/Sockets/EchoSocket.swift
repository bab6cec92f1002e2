import HTTPWire
import NIOCore

/// The diagnostic echo: what comes in goes out, message by message.
final class EchoSocket: SocketApplication {
    private weak var socket: EmbeddedSocket?

    func opened(_ socket: EmbeddedSocket) { self.socket = socket }
    func received(text: ByteBuffer) { socket?.write(.text, text) }
    func received(binary: ByteBuffer) { socket?.write(.binary, binary) }
    func closed() {}
    var wantsMessages: Bool { true }
}
