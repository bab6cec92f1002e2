import NIOCore
import NIOEmbedded
import NIOHTTP2
import Testing

@testable import Edge

/// HEADERS that come after the end of their stream end the connection, and nothing else that a client sends does so.
@Suite struct LateHeadersTests {
    private static let begin = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, 0, [])

    private static func frame(_ kind: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(payload.count), kind, flags, 0, 0, UInt8(stream >> 8), UInt8(stream & 0xff)] + payload
    }

    private static func headers(_ stream: Int, ends: Bool) -> [UInt8] {
        frame(1, ends ? 5 : 4, stream, [0x82, 0x84])
    }
    private static func data(_ stream: Int, ends: Bool) -> [UInt8] { frame(0, ends ? 1 : 0, stream, [1, 2, 3]) }
    private static func reset(_ stream: Int) -> [UInt8] { frame(3, 0, stream, [0, 0, 0, 8]) }

    /// What is passed on of bytes that arrive `step` at a time, and the error of the GOAWAY that is sent.
    private static func passed(_ bytes: [UInt8], step: Int) throws -> (bytes: [UInt8], goAway: HTTP2ErrorCode?) {
        let channel = EmbeddedChannel(handler: LateHeaders())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var start = 0
        while start < bytes.count, channel.isActive {
            let end = min(bytes.count, start + step)
            _ = try channel.writeInbound(ByteBuffer(bytes: bytes[start..<end]))
            start = end
        }
        var read: [UInt8] = []
        while let part = try channel.readInbound(as: ByteBuffer.self) { read += part.readableBytesView }
        let frame = try channel.readOutbound(as: HTTP2Frame.self)
        guard case .goAway(_, let code, _) = frame?.payload else { return (read, nil) }
        #expect(!channel.isActive)
        return (read, code)
    }

    @Test("They get STREAM_CLOSED, and neither they nor what follows is passed on", arguments: [1, 7, 1000])
    func late(step: Int) throws {
        let ended: [[[UInt8]]] = [
            [Self.headers(1, ends: true)], [Self.headers(1, ends: false), Self.data(1, ends: true)],
            [Self.headers(1, ends: false), Self.headers(1, ends: true)],
            [Self.headers(1, ends: false), Self.headers(3, ends: false), Self.reset(1)],
            [Self.headers(1, ends: true), Self.headers(9, ends: true)],
        ]
        for frames in ended {
            let before = Self.begin + frames.joined()
            let late = Self.headers(1, ends: true)
            let (bytes, goAway) = try Self.passed(before + late + Self.headers(11, ends: true), step: step)
            #expect(goAway == .streamClosed)
            // Of a header that comes in pieces, the first ones may have been passed on.
            #expect(bytes.starts(with: before) && bytes.count < before.count + HTTP2FrameHeader.size)
        }
    }

    @Test("Everything else is passed on as it is", arguments: [1, 7, 1000])
    func others(step: Int) throws {
        let kept: [[[UInt8]]] = [
            // Trailers, and a stream beside one that has ended.
            [Self.headers(1, ends: false), Self.data(1, ends: false), Self.headers(1, ends: true)],
            [Self.headers(1, ends: true), Self.headers(3, ends: false), Self.headers(3, ends: true)],
            // For SwiftNIO to refuse: a stream that was passed over, numbers that no client may use, DATA that is late.
            [Self.headers(5, ends: true), Self.headers(3, ends: true), Self.headers(1, ends: true)],
            [Self.headers(5, ends: true), Self.headers(4, ends: true), Self.headers(0, ends: true)],
            [Self.headers(1, ends: true), Self.data(1, ends: true)],
        ]
        for frames in kept {
            let all = Self.begin + frames.joined()
            let (bytes, goAway) = try Self.passed(all, step: step)
            #expect(goAway == nil && bytes == all)
        }
    }

    @Test("Too many open streams, or too many that were passed over, are forgotten, and later ones are known again")
    func bounds() throws {
        let open = (0...ClientStreams.maxOpen).map { Self.headers(2 * $0 + 1, ends: false) }
        let sparse = (0...ClientStreams.maxSkipped).map { Self.headers(4 * $0 + 3, ends: true) }
        for frames in [open, sparse] {
            let all = Self.begin + frames.joined()
            let old = frames[0]
            #expect(try Self.passed(all + old, step: 4096).goAway == nil)
            let new = Self.headers(9001, ends: true)
            #expect(try Self.passed(all + old + new, step: 4096).goAway == nil)
            #expect(try Self.passed(all + old + new + new, step: 4096).goAway == .streamClosed)
        }
    }
}
