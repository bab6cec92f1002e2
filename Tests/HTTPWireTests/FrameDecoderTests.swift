import HTTPWire
import NIOCore
import Testing

@Suite("A frame decoder")
struct FrameDecoderTests {
    private static func stream(_ frames: ClientFrame...) -> [UInt8] { frames.flatMap(\.bytes) }

    static let soundStreams: [([UInt8], [FrameEvent])] = [
        (stream(ClientFrame(0x1, text: "hello")), [.text(ByteBuffer(string: "hello"))]),
        (stream(ClientFrame(0x1)), [.text(ByteBuffer())]),
        (stream(ClientFrame(0x2, [0, 255, 128])), [.binary(ByteBuffer(bytes: [0, 255, 128]))]),
        (
            stream(ClientFrame(0x1, text: "he", final: false), ClientFrame(0x0, text: "llo")),
            [.text(ByteBuffer(string: "hello"))]
        ),
        (
            stream(
                ClientFrame(0x1, text: "a", final: false), ClientFrame(0x9, text: "p"), ClientFrame(0x0, text: "b"),
                ClientFrame(0xA)),
            [.ping(ByteBuffer(string: "p")), .text(ByteBuffer(string: "ab")), .pong(ByteBuffer())]
        ),
        (
            stream(ClientFrame(0x1, [0xE2, 0x82], final: false), ClientFrame(0x0, [0xAC])),
            [.text(ByteBuffer(string: "€"))]
        ),
        (stream(ClientFrame(0x2, Array(repeating: 7, count: 126))), [.binary(ByteBuffer(repeating: 7, count: 126))]),
        (stream(ClientFrame(0x2, Array(repeating: 7, count: 1024))), [.binary(ByteBuffer(repeating: 7, count: 1024))]),
        (stream(ClientFrame(0x8), ClientFrame(0x1, text: "x")), [.close(code: nil, reason: ByteBuffer())]),
        (stream(close(1000, Array("bye".utf8))), [.close(code: 1000, reason: ByteBuffer(string: "bye"))]),
        (stream(ClientFrame(0x1, text: "a", final: false), close(1001)), [.close(code: 1001, reason: ByteBuffer())]),
        (stream(ClientFrame(0x9, Array(repeating: 1, count: 125))), [.ping(ByteBuffer(repeating: 1, count: 125))]),
    ]

    @Test("gives complete messages however the bytes are split", arguments: soundStreams, [1, 2, 3, 9, Int.max])
    func sound(stream: ([UInt8], [FrameEvent]), step: Int) {
        #expect(events(stream.0, step: step) == stream.1)
    }

    static let faultStreams: [([UInt8], WebSocketFault)] = [
        (
            stream(ClientFrame(0x1, text: "a", final: true)).enumerated().map { $0 == 1 ? $1 & 0x7F : $1 },
            .protocolError
        ),
        (stream(ClientFrame(0x1, [1], isMasked: false)), .protocolError),
        (stream(ClientFrame(0x1, [], reserved: 4)), .protocolError),
        (stream(ClientFrame(0x1, [], reserved: 2)), .protocolError),
        (stream(ClientFrame(0x1, [], reserved: 1)), .protocolError),
        (stream(ClientFrame(0x3)), .protocolError), (stream(ClientFrame(0x7)), .protocolError),
        (stream(ClientFrame(0xB)), .protocolError), (stream(ClientFrame(0xF)), .protocolError),
        (stream(ClientFrame(0x9, Array(repeating: 0, count: 126))), .protocolError),
        (stream(ClientFrame(0x8, Array(repeating: 0, count: 126))), .protocolError),
        (stream(ClientFrame(0x9, [], final: false)), .protocolError),
        (stream(ClientFrame(0x8, [], final: false)), .protocolError),
        (stream(ClientFrame(0x0, text: "a")), .protocolError),
        (stream(ClientFrame(0x0, [], final: false)), .protocolError),
        (stream(ClientFrame(0x1, text: "a", final: false), ClientFrame(0x1, text: "b")), .protocolError),
        (stream(ClientFrame(0x1, text: "a", final: false), ClientFrame(0x2, text: "b")), .protocolError),
        (stream(ClientFrame(0x2, [1], extended: 2)), .protocolError),
        (stream(ClientFrame(0x2, [1], extended: 8)), .protocolError),
        (stream(ClientFrame(0x2, Array(repeating: 1, count: 125), extended: 2)), .protocolError),
        (stream(ClientFrame(0x2, Array(repeating: 1, count: 300), extended: 8)), .protocolError),
        (stream(ClientFrame(0x2, extended: 8, claimedLength: 1 << 63)), .protocolError),
        (stream(ClientFrame(0x2, extended: 8, claimedLength: .max)), .protocolError),
        (stream(ClientFrame(0x2, extended: 8, claimedLength: (1 << 63) - 1)), .messageTooBig),
        (stream(ClientFrame(0x2, Array(repeating: 1, count: 1025))), .messageTooBig),
        (
            stream(
                ClientFrame(0x2, Array(repeating: 1, count: 1000), final: false),
                ClientFrame(0x0, Array(repeating: 1, count: 25))), .messageTooBig
        ),
        (
            stream(ClientFrame(0x2, [], final: false))
                + Array(repeating: ClientFrame(0x0, [], final: false).bytes, count: 70).flatMap { $0 }, .messageTooBig
        ),
        (stream(ClientFrame(0x1, [0xFF])), .invalidPayload), (stream(ClientFrame(0x1, [0xC0, 0xAF])), .invalidPayload),
        (stream(ClientFrame(0x1, [0xED, 0xA0, 0x80])), .invalidPayload),
        (stream(ClientFrame(0x1, [0xE2, 0x82])), .invalidPayload),
        (stream(ClientFrame(0x1, [0xF4, 0x90, 0x80, 0x80])), .invalidPayload),
        (stream(ClientFrame(0x1, [0xE2], final: false), ClientFrame(0x0, [0x41])), .invalidPayload),
        (stream(ClientFrame(0x8, [3])), .protocolError), (stream(close(1000, [0xFF])), .invalidPayload),
        (stream(close(1000, [0xE2, 0x82])), .invalidPayload),
    ]

    @Test("closes with the right code for a fault", arguments: faultStreams, [1, Int.max])
    func faults(stream: ([UInt8], WebSocketFault), step: Int) {
        #expect(events(stream.0, step: step).last == .violation(stream.1))
    }

    @Test(
        "takes more fragments where a message may be longer", arguments: [(0, 1024), (65_536, 1024), (4 << 20, 65_536)])
    func fragments(maxMessage: Int, most: Int) {
        for count in [most, most + 1] {
            var decoder = FrameDecoder(maxMessage: maxMessage)
            var bytes = ByteBuffer(bytes: ClientFrame(0x2, [], final: false).bytes)
            for _ in 0..<(count - 2) { bytes.writeBytes(ClientFrame(0x0, [], final: false).bytes) }
            bytes.writeBytes(ClientFrame(0x0, []).bytes)
            #expect(decoder.next(&bytes) == (count == most ? .binary(ByteBuffer()) : .violation(.messageTooBig)))
        }
    }

    @Test(
        "refuses close codes that must not be sent",
        arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] as [UInt16])
    func illegalCode(code: UInt16) {
        #expect(events(close(code).bytes) == [.violation(.protocolError)])
    }

    @Test(
        "takes close codes that may be sent",
        arguments: [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 4401, 4999] as [UInt16])
    func legalCode(code: UInt16) {
        #expect(events(close(code).bytes) == [.close(code: code, reason: ByteBuffer())])
    }

    @Test("finds invalid text before the frame is complete") func failsFast() {
        let bytes = ClientFrame(0x1, [0x41, 0xFF] + Array(repeating: 0x41, count: 500)).bytes
        #expect(events(Array(bytes.prefix(10))) == [.violation(.invalidPayload)])
    }

    @Test("refuses garbage at its first byte") func firstByte() {
        #expect(events([0x83]) == [.violation(.protocolError)])
        #expect(events([0x81, 0x05]) == [.violation(.protocolError)])
        #expect(events([0x82, 0xFF, 0x80]) == [.violation(.protocolError)])
    }

    @Test("drops what follows a fault") func finished() {
        var decoder = FrameDecoder(maxMessage: 10)
        var buffer = ByteBuffer(bytes: [0x83, 0x00] + ClientFrame(0x1, text: "x").bytes)
        #expect(decoder.next(&buffer) == .violation(.protocolError))
        #expect(decoder.next(&buffer) == .needMoreData)
        #expect(buffer.readableBytes == 0)
    }

    @Test(
        "agrees with the encoder in both directions",
        arguments: [0, 1, 7, 8, 9, 125, 126, 127, 1000, 65535, 65536, 70001])
    func encoder(length: Int) throws {
        let payload = ByteBuffer(bytes: (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var masked = ByteBuffer()
        FrameEncoder.write(.binary, payload, maskingKey: 0xDEAD_BEEF, to: &masked)
        let bytes = Array(masked.readableBytesView)
        #expect(events(bytes, maxMessage: 100_000) == [.binary(payload)])
        #expect(events(bytes, step: 1021, maxMessage: 100_000) == [.binary(payload)])
        var plain = ByteBuffer()
        FrameEncoder.write(.binary, payload, to: &plain)
        guard case .header(let header) = plain.withUnsafeReadableBytes(FrameHeader.parse) else {
            Issue.record("no header")
            return
        }
        #expect(header.isFinal && header.isMinimal && header.maskingKey == nil && header.payloadLength == length)
        plain.moveReaderIndex(forwardBy: header.length)
        #expect(plain == payload)
    }

    @Test("reads a Close as it was written, its reason cut at a character") func encodedClose() {
        var buffer = ByteBuffer()
        FrameEncoder.close(code: 4401, reason: String(repeating: "é", count: 100), maskingKey: 1, to: &buffer)
        let expected = FrameEvent.close(code: 4401, reason: ByteBuffer(string: String(repeating: "é", count: 61)))
        #expect(events(Array(buffer.readableBytesView)) == [expected])
        var text = ByteBuffer()
        FrameEncoder.text("hi", to: &text)
        #expect(Array(text.readableBytesView) == [0x81, 2, 0x68, 0x69])
    }
}
