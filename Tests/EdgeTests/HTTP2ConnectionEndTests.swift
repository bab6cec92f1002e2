import NIOCore
import NIOEmbedded
import NIOHTTP2
import Testing

@testable import Edge

/// What tells a fault of an HTTP/2 connection from a fault of one of its streams.
@Suite struct HTTP2ConnectionEndTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }

    @Test(
        "A GOAWAY with an error is noted for a fault of the connection, and for nothing else",
        arguments: [
            // A ping of nine bytes is a fault of the connection; a window update of nothing one of its stream.
            (frame(6, 0, 0, [UInt8](repeating: 0, count: 9)), true),
            (frame(6, 0, 0, [UInt8](repeating: 0, count: 8)), false),
            (frame(1, 4, 1, [0x82, 0x87, 0x84, 0x41, 1, 0x68]) + frame(1, 5, 1, [0x82]), false),
        ])
    func goAwayIsNoted(frames: [UInt8], hasSentError: Bool) throws {
        let channel = EmbeddedChannel()
        let goAway = GoAwayObserver()
        try EdgeHTTP2Settings(maxHeader: 32 * 1024).configure(channel, goAway) {
            $0.eventLoop.makeSucceededVoidFuture()
        }
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        // A fault that no handler of the pipeline catches is thrown here.
        _ = try? channel.writeInbound(ByteBuffer(bytes: Self.preface + Self.frame(4, 0, 0, []) + frames))
        #expect(goAway.hasSentError == hasSentError)
        _ = try? channel.finish()
    }

    @Test("The GOAWAY of a stop, which names no error, doesn't make a fault of a stream one of the connection")
    func stop() {
        let goAway = GoAwayObserver()
        func write(_ code: HTTP2ErrorCode) {
            goAway.wroteFrame(
                HTTP2Frame(
                    streamID: .rootStream, payload: .goAway(lastStreamID: .maxID, errorCode: code, opaqueData: nil)))
        }
        write(.noError)
        #expect(!goAway.hasSentError)
        write(.protocolError)
        #expect(goAway.hasSentError)
    }
}
