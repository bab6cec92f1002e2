import NIOCore
import NIOEmbedded
import Testing

@testable import Edge

/// A long first head waits for the acknowledgement of our settings, and nothing else does.
@Suite struct SettingsWaitTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let settings = frame(4, 0, 0, [0, 3, 0, 0, 0, 100])
    private static let acknowledgement = frame(4, 1, 0, [])
    private static let begin = preface + settings

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count
        let size = [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8), UInt8(length & 0xff),
        ]
        return size + [type, flags, 0, 0, 0, stream] + payload
    }

    private static func head(_ length: Int, ends: Bool = true, flags: UInt8 = 0) -> [UInt8] {
        frame(1, (ends ? 5 : 1) | flags, 1, block(length))
    }

    /// One field whose value is as long as makes the block this long: a literal without indexing (RFC 7541 section 6.2.2).
    private static func block(_ length: Int) -> [UInt8] {
        guard length > 300 else { return [UInt8](repeating: 0x82, count: length) }
        let rest = length - 6 - 127
        let size = [0x7f, UInt8(rest & 0x7f) | 0x80, UInt8(rest >> 7)]
        return [0x00, 0x01, 0x61] + size + [UInt8](repeating: 0x62, count: length - 6)
    }

    /// So many cookies of eight bytes: literals whose name is entry 32 of the static table.
    private static func crumbs(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { _ in [0x0f, 0x11, 0x08] + [UInt8](repeating: 0x63, count: 8) }
    }

    private static let data = frame(0, 1, 3, [1, 2, 3])

    /// What is passed on of bytes that arrive `step` at a time.
    private static func passed(_ bytes: [UInt8], step: Int) throws -> [UInt8] {
        let channel = EmbeddedChannel(handler: SettingsWait(maxHead: 64 * 1024))
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + step)
            _ = try channel.writeInbound(ByteBuffer(bytes: bytes[start..<end]))
            start = end
        }
        var read: [UInt8] = []
        while let part = try channel.readInbound(as: ByteBuffer.self) { read += part.readableBytesView }
        return read
    }

    @Test("A short head is passed on at once, and what follows it too", arguments: [7, 100_000])
    func short(step: Int) throws {
        for length in [0, 100, 8 * 1024] {
            let bytes = Self.begin + Self.head(length) + Self.data
            #expect(try Self.passed(bytes, step: step) == bytes)
        }
    }

    @Test("A long head waits with what is behind it, and comes behind the acknowledgement", arguments: [7, 100_000])
    func long(step: Int) throws {
        for head in [Self.head(8 * 1024 + 1), Self.head(10, ends: false) + Self.frame(9, 4, 1, [1, 2])] {
            #expect(try Self.passed(Self.begin + head + Self.data, step: step) == Self.begin)
            let more = Self.head(9000)
            let all = Self.begin + head + Self.data + Self.acknowledgement + more
            let expected = Self.begin + Self.acknowledgement + head + Self.data + more
            #expect(try Self.passed(all, step: step) == expected)
        }
    }

    @Test("Many short fields are as long as they count, and wait where that is over 16 KiB", arguments: [7, 100_000])
    func crumbs(step: Int) throws {
        // Each counts 32 + 6 + 8 bytes.
        let fits = Self.begin + Self.frame(1, 5, 1, Self.crumbs(356)) + Self.data
        #expect(try Self.passed(fits, step: step) == fits)
        let head = Self.frame(1, 5, 1, Self.crumbs(357))
        #expect(try Self.passed(Self.begin + head + Self.data, step: step) == Self.begin)
        let all = Self.begin + head + Self.data + Self.acknowledgement
        #expect(try Self.passed(all, step: step) == Self.begin + Self.acknowledgement + head + Self.data)
    }

    @Test("Padding and priority are no part of a head", arguments: [7, 100_000])
    func padded(step: Int) throws {
        let fields = Self.crumbs(356)
        for (flags, payload) in [
            (UInt8(8), [200] + fields + [UInt8](repeating: 0, count: 200)), (0x20, [0, 0, 0, 0, 9] + fields),
            (0x28, [3, 0, 0, 0, 0, 9] + fields + [0, 0, 0]),
        ] {
            let bytes = Self.begin + Self.frame(1, 5 | flags, 1, payload) + Self.data
            #expect(try Self.passed(bytes, step: step) == bytes)
        }
    }

    @Test("A head that can't be read waits, since nothing says how long it is", arguments: [7, 100_000])
    func unreadable(step: Int) throws {
        let head = Self.frame(1, 5, 1, [UInt8](repeating: 0xff, count: 300))
        #expect(try Self.passed(Self.begin + head, step: step) == Self.begin)
    }

    @Test("Behind the acknowledgement nothing waits", arguments: [7, 100_000])
    func after(step: Int) throws {
        let bytes = Self.begin + Self.acknowledgement + Self.head(20_000) + Self.head(10, ends: false)
        #expect(try Self.passed(bytes, step: step) == bytes)
    }

    @Test("What is kept is bounded: too much is passed on as it came")
    func bound() throws {
        let block = Self.frame(9, 0, 1, [UInt8](repeating: 1, count: 16_000))
        let bytes = Self.begin + Self.head(10, ends: false) + (0..<13).flatMap { _ in block }
        #expect(try Self.passed(bytes, step: 4096) == bytes)
    }

    @Test("Bytes that are no HTTP/2 are passed on for others to refuse")
    func noise() throws {
        let bytes = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n and more that is no frame either".utf8)
        #expect(try Self.passed(bytes, step: 5).starts(with: bytes.prefix(24)))
    }

    @Test("A client that acknowledges nothing has its bytes passed on as they came when the time is over")
    func unacknowledged() throws {
        let channel = EmbeddedChannel(handler: SettingsWait(maxHead: 64 * 1024))
        let bytes = Self.begin + Self.head(9000) + Self.data
        _ = try channel.writeInbound(ByteBuffer(bytes: bytes))
        func read() throws -> [UInt8] {
            var read: [UInt8] = []
            while let part = try channel.readInbound(as: ByteBuffer.self) { read += part.readableBytesView }
            return read
        }
        #expect(try read() == Self.begin)
        channel.embeddedEventLoop.advanceTime(by: SettingsWait.patience - .milliseconds(1))
        #expect(try read().isEmpty)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(try read() == Self.head(9000) + Self.data)
        _ = try channel.writeInbound(ByteBuffer(bytes: Self.data))
        #expect(try read() == Self.data)
    }
}
