import HTTPWire
import NIOCore
import Testing

@Suite struct ProxyProtocolTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let v4 = signature + [0x21, 0x11, 0, 12, 203, 0, 113, 7, 127, 0, 0, 1, 0x30, 0x39, 0, 80]

    private static func read(_ bytes: [UInt8]) -> (ProxyProtocol.Outcome, rest: String) {
        var buffer = ByteBuffer(bytes: bytes)
        let outcome = ProxyProtocol.read(&buffer)
        return (outcome, String(buffer: buffer))
    }

    @Test(
        "Version 1 names the client; the bytes after its line are the client's",
        arguments: [
            ("PROXY TCP4 203.0.113.7 127.0.0.1 12345 80\r\n", ProxyProtocol.Source.text("203.0.113.7")),
            ("PROXY TCP6 2001:db8::1 ::1 1 65535\r\n", .text("2001:db8::1")), ("PROXY UNKNOWN\r\n", .unnamed),
            ("PROXY UNKNOWN a b c d\r\n", .unnamed),
        ])
    func lines(line: String, source: ProxyProtocol.Source) {
        let (outcome, rest) = Self.read(Array((line + "GET / HTTP/1.1\r\n").utf8))
        #expect(outcome == .source(source) && rest == "GET / HTTP/1.1\r\n")
        for count in 0..<line.utf8.count {
            #expect(Self.read(Array(line.utf8.prefix(count))).0 == .needMoreData, "\(count)")
        }
    }

    @Test("Version 2 names the client by its bytes")
    func blocks() {
        let whole = Self.read(Self.v4 + Array("GET".utf8))
        #expect(whole.0 == .source(.bytes([203, 0, 113, 7])) && whole.rest == "GET")
        for count in 0..<Self.v4.count {
            #expect(Self.read(Array(Self.v4.prefix(count))).0 == .needMoreData, "\(count)")
        }
        let six =
            Self.signature + [0x21, 0x21, 0, 40] + [UInt8](repeating: 1, count: 16) + [UInt8](repeating: 2, count: 24)
        #expect(Self.read(six).0 == .source(.bytes([UInt8](repeating: 1, count: 16))))
        #expect(Self.read(Self.signature + [0x20, 0, 0, 0]).0 == .source(.unnamed))
        #expect(Self.read(Self.signature + [0x21, 0x31, 0, 2, 0, 0]).0 == .source(.unnamed))
    }

    @Test(
        "Everything else is malformed",
        arguments: [
            "GET / HTTP/1.1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
            "PROXY TCP9 a b 1 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n", "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n", "PROXY\r\n",
            "proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY " + String(repeating: "x", count: 120),
        ])
    func malformed(text: String) { #expect(Self.read(Array(text.utf8)).0 == .malformed) }

    @Test("A block of another version, command, size or length is malformed")
    func malformedBlocks() {
        for tail: [UInt8] in [
            [0x11, 0x11, 0, 12], [0x22, 0x11, 0, 12], [0x21, 0x11, 0xFF, 0xFF], [0x21, 0x11, 0, 2, 0, 0],
            [0x21, 0x21, 0, 12] + [UInt8](repeating: 0, count: 12),
        ] {
            #expect(Self.read(Self.signature + tail).0 == .malformed, "\(tail)")
        }
    }
}
