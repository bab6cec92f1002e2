import Answers
import HTTPWire
import NIOCore
import Proxy
import RandomForTests
import Testing

@testable import Sockets

/// What the upstream answers.
extension RelayMachineTests {
    static let refused = "HTTP/1.1 404 X\r\nContent-Length: 2\r\n\r\n"
    static let chunked = "HTTP/1.1 403 X\r\nTransfer-Encoding: chunked\r\n\r\n"
    private static let malformed = [
        "report upstream_answer_malformed", "release", "settle", "502 upstream_answer_malformed",
    ]

    @Test(
        "An upstream's answer opens the socket, is passed on, or is a 502",
        arguments: [
            (switching(), ["answered 101", "open ''"]),
            (switching("Sec-WebSocket-Protocol: chat\r\n") + "early", ["answered 101", "open 'early'"]),
            ("HTTP/1.1 103 X\r\n\r\n" + switching(), ["answered 101", "open ''"]),
            (switching(accept: "x"), ["release", "settle", "502 upstream_upgrade: wrong Sec-WebSocket-Accept"]),
            (
                switching("Sec-WebSocket-Protocol: other\r\n"),
                ["release", "settle", "502 upstream_upgrade: a subprotocol that was not offered"]
            ),
            (refused + "no", ["answered 404", "start 404", "no", "release", "settle", "finish"]),
            (chunked + "2\r\nno\r\n0\r\n\r\n", ["answered 403", "start 403", "no", "release", "settle", "finish"]),
            (refused + "n", ["answered 404", "start 404", "n", "lease", "flush"]),
            ("HTTP/1.1 204 X\r\n\r\n", ["answered 204", "start 204", "release", "settle", "finish"]),
            (String(repeating: "HTTP/1.1 103 X\r\n\r\n", count: 17), ["release", "settle", "502 interim_flood"]),
            (chunked + "z\r\n", malformed), ("what?", malformed), ("SSH-2.0\r\n\r\n", malformed),
        ] as [(String, [String])])
    func answers(text: String, expected: [String]) throws {
        var relay = try Relay.asked()
        #expect(relay.says(text) == expected)
        // However it is cut into reads.
        var slow = try Relay.asked()
        var words: [String] = []
        for byte in text.utf8 { words += slow.says(String(UnicodeScalar(byte)), isBurst: false) }
        slow.machine.upstreamReceivedAll()
        words += slow.act()
        #expect(words.joined() == expected.joined().replacing("early", with: ""))
    }

    @Test("A first chunk that is none, in a read of its own behind the head, is found before anything is passed on")
    func badFirstChunk() throws {
        var relay = try Relay.asked()
        #expect(relay.says(Self.chunked, isBurst: false).isEmpty)
        #expect(relay.says("z\r\n") == Self.malformed)
        // Where the head had to be passed on before, the client sees the answer cut.
        var late = try Relay.asked()
        #expect(late.says(Self.chunked) == ["answered 403", "start 403", "lease", "flush"])
        #expect(late.says("z\r\n") == ["release", "settle", "abort"])
    }

    @Test("Over HTTP/2 no 2xx but the upgrade's own is passed on, and no field that is not text")
    func overHTTP2() throws {
        var relay = try Relay.asked(takesAnyBytes: false, opensTunnelOnSuccess: true)
        #expect(
            relay.says("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n") == [
                "release", "settle", "502 upstream_upgrade: 200",
            ])
        for head in [Self.switching("X: \u{FF}\r\n"), "HTTP/1.1 404 X\r\nContent-Length: 0\r\nX: \u{FF}\r\n\r\n"] {
            var relay = try Relay.asked(takesAnyBytes: false, opensTunnelOnSuccess: true)
            relay.machine.upstreamReceived(ByteBuffer(bytes: head.unicodeScalars.map { UInt8($0.value) }))
            #expect(relay.act() == ["release", "settle", "502 upstream_answer_not_utf8"])
        }
    }

    @Test("A body without a length ends in order with its connection, and is cut with a broken one")
    func untilClose() throws {
        for isBroken in [false, true] {
            var relay = try Relay.asked()
            #expect(relay.says("HTTP/1.1 404 X\r\n\r\nno") == ["answered 404", "start 404", "no", "lease", "flush"])
            #expect(relay.closes(isBroken: isBroken) == ["release", "settle", isBroken ? "abort" : "finish"])
        }
    }

    @Test("What a slow client has yet to read outlives the upstream's connection")
    func slowClient() throws {
        var relay = try Relay.asked()
        relay.clientTakes = false
        #expect(relay.says(Self.refused + "no") == ["answered 404", "start 404", "lease", "flush"])
        #expect(!relay.machine.wantsUpstreamBytes(clientTakes: false))
        #expect(relay.closes() == ["release"])
        relay.clientTakes = true
        #expect(relay.act() == ["no", "settle", "finish"])
    }
}
