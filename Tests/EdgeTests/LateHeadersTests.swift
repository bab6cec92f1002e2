import NIOCore
import NIOEmbedded
import Testing

@testable import Edge

/// The code with which HEADERS are refused that come behind the end of their stream.
@Suite struct LateHeadersTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }

    private static func headers(_ stream: UInt8, ends: Bool) -> [UInt8] {
        frame(1, ends ? 5 : 4, stream, [0x82, 0x84])
    }
    private static func data(_ stream: UInt8, ends: Bool) -> [UInt8] { frame(0, ends ? 1 : 0, stream, [1, 2, 3]) }
    private static func reset(_ stream: UInt8, code: UInt8) -> [UInt8] { frame(3, 0, stream, [0, 0, 0, code]) }
    private static func goodbye(code: UInt8) -> [UInt8] { frame(7, 0, 0, [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, code]) }

    /// What becomes of a piece that is written after these frames have come.
    private static func written(_ piece: [UInt8], after frames: [[UInt8]], step: Int) throws -> [UInt8] {
        let channel = EmbeddedChannel(handler: LateHeaders())
        let bytes = preface + frame(4, 0, 0, []) + frames.flatMap { $0 }
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + step)
            _ = try channel.writeInbound(ByteBuffer(bytes: bytes[start..<end]))
            start = end
        }
        var read: [UInt8] = []
        while let part = try channel.readInbound(as: ByteBuffer.self) { read += part.readableBytesView }
        #expect(read == bytes, "what comes in is passed on as it is")
        _ = try channel.writeOutbound(IOData.byteBuffer(ByteBuffer(bytes: piece)))
        guard case .byteBuffer(let out) = try channel.readOutbound(as: IOData.self) else { return [] }
        return Array(out.readableBytesView)
    }

    @Test("They are STREAM_CLOSED, on the stream or on the connection", arguments: [1, 7, 1000])
    func late(step: Int) throws {
        let ended: [[[UInt8]]] = [
            [Self.headers(1, ends: true)], [Self.headers(1, ends: false), Self.data(1, ends: true)],
            [Self.headers(1, ends: false), Self.headers(1, ends: true)],
            [Self.headers(1, ends: false), Self.headers(3, ends: false), Self.reset(1, code: 8)],
        ]
        for frames in ended {
            let late = frames + [Self.headers(1, ends: true)]
            #expect(try Self.written(Self.reset(1, code: 1), after: late, step: step) == Self.reset(1, code: 5))
            #expect(try Self.written(Self.goodbye(code: 1), after: late, step: step) == Self.goodbye(code: 5))
        }
    }

    @Test("Any other refusal keeps its code", arguments: [1, 7, 1000])
    func others(step: Int) throws {
        let late = [Self.headers(1, ends: true), Self.headers(3, ends: false), Self.headers(1, ends: true)]
        let trailers = [Self.headers(1, ends: false), Self.data(1, ends: false), Self.headers(1, ends: true)]
        let kept: [([UInt8], [[UInt8]])] = [
            (Self.reset(1, code: 8), late), (Self.reset(3, code: 1), late), (Self.goodbye(code: 11), late),
            (Self.data(1, ends: true), late), (Self.reset(1, code: 1), trailers), (Self.goodbye(code: 1), trailers),
            (Self.reset(1, code: 1), []),
        ]
        for (piece, frames) in kept { #expect(try Self.written(piece, after: frames, step: step) == piece) }
    }
}
