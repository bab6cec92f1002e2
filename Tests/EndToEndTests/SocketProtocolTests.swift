import Foundation
import Testing

/// RFC 6455 as a server must speak it, case by case, in the order of the well-known conformance suite: framing (1),
/// pings (2), reserved bits (3), opcodes (4), fragmentation (5), UTF-8 (6), closing (7), limits (9), chopping (10).
@Suite(.blocking) struct SocketProtocolTests {
    private static let limit = 1024 * 1024

    /// One case: what is sent, and everything that must come back until the connection ends.
    private struct Case {
        var name: String
        var sent: [UInt8]
        var frames: [[UInt8]]
        /// The code of the gateway's Close; 1000 answers the one that every case ends with.
        var code = 1000

        init(_ name: String, _ sent: [[UInt8]], echoes: [[UInt8]] = [], code: Int = 1000) {
            self.name = name
            self.sent = sent.flatMap { $0 }
            self.frames = echoes
            self.code = code
        }
    }

    private typealias Probe = WebSocketProbe

    private func run(_ cases: [Case], chunk: Int? = nil) async throws {
        let gateway = try await GatewayInProcess.start("websocket:\n  max_message: 1MiB")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for item in cases {
            let probe = try gateway.opened("/api/runtime/echo?\(ada.query)")
            let bytes = item.sent + (item.code == 1000 ? Probe.close(1000) : [])
            var position = 0
            while position < bytes.count {
                let end = min(bytes.count, position + (chunk ?? bytes.count))
                try probe.send(Array(bytes[position..<end]))
                position = end
            }
            for expected in item.frames {
                let frame = try probe.next()
                #expect(frame.map { [$0.first] + $0.payload } == expected, "\(item.name)")
            }
            let last = try probe.next()
            #expect(last?.opcode == 8 && last?.code == item.code, "\(item.name): \(String(describing: last))")
            #expect(try probe.next() == nil, "\(item.name): the gateway closes the connection")
        }
        #expect(try gateway.isHealthy(ada.token))
    }

    private func text(_ string: String) -> [UInt8] { Array(string.utf8) }
    private func echo(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] { [0x80 | opcode] + payload }

    @Test("1: text and binary of every length form come back unchanged")
    func framing() async throws {
        var cases: [Case] = []
        for size in [0, 1, 125, 126, 127, 128, 65535, 65536, 300_000, Self.limit] {
            let payload = (0..<size).map { UInt8(0x20 + $0 % 90) }
            for opcode: UInt8 in [1, 2] {
                cases.append(
                    Case("\(opcode), \(size)", [Probe.frame(opcode, payload)], echoes: [echo(opcode, payload)]))
            }
        }
        try await run(cases)
    }

    @Test("2: pings are answered with their payload, unasked pongs are ignored")
    func pings() async throws {
        let hello = text("hello")
        let full = [UInt8](repeating: 0xFE, count: 125)
        try await run([
            Case("2.1", [Probe.frame(9)], echoes: [echo(10, [])]),
            Case("2.2", [Probe.frame(9, hello)], echoes: [echo(10, hello)]),
            Case("2.3", [Probe.frame(9, [0, 0xFF, 0xFE])], echoes: [echo(10, [0, 0xFF, 0xFE])]),
            Case("2.4", [Probe.frame(9, full)], echoes: [echo(10, full)]),
            Case("2.5", [Probe.frame(9, full + [1])], code: 1002),
            Case("2.7", [Probe.frame(10)]),
            Case("2.8", [Probe.frame(10, hello)]),
            Case("2.9", [Probe.frame(10, hello), Probe.frame(9, [1])], echoes: [echo(10, [1])]),
            Case("2.10", (0..<10).map { Probe.frame(9, [$0]) }, echoes: (0..<10).map { echo(10, [$0]) }),
        ])
    }

    @Test("3 and 4: reserved bits and opcodes are refused; what came before is answered")
    func reserved() async throws {
        let hello = text("hello")
        var cases: [Case] = []
        for bits: UInt8 in 1...7 {
            cases.append(Case("3.\(bits)", [Probe.frame(1, hello, reserved: bits)], code: 1002))
            cases.append(
                Case(
                    "3.\(bits) behind a message", [Probe.frame(1, hello), Probe.frame(9, reserved: bits)],
                    echoes: [echo(1, hello)], code: 1002))
            cases.append(Case("3.\(bits) close", [Probe.frame(8, [3, 0xE8], reserved: bits)], code: 1002))
        }
        for opcode: UInt8 in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
            cases.append(Case("4.\(opcode)", [Probe.frame(opcode)], code: 1002))
            cases.append(
                Case(
                    "4.\(opcode) behind a message", [Probe.frame(1, hello), Probe.frame(opcode, hello)],
                    echoes: [echo(1, hello)], code: 1002))
        }
        cases.append(Case("unmasked", [Probe.frame(1, hello, isMasked: false)], code: 1002))
        cases.append(Case("unmasked close", [Probe.frame(8, [3, 0xE8], isMasked: false)], code: 1002))
        try await run(cases)
    }

    @Test("5: fragments are put together, control frames pass between them, the order is kept")
    func fragments() async throws {
        func part(_ opcode: UInt8, _ payload: String, last: Bool = false) -> [UInt8] {
            Probe.frame(opcode, text(payload), isFinal: last)
        }
        let whole = echo(1, text("fragment1fragment2"))
        let ping = Probe.frame(9, text("p"))
        try await run([
            Case("5.1", [Probe.frame(9, isFinal: false)], code: 1002),
            Case("5.2", [Probe.frame(10, isFinal: false)], code: 1002),
            Case("5.3", [part(1, "fragment1"), part(0, "fragment2", last: true)], echoes: [whole]),
            Case(
                "5.6", [part(1, "fragment1"), ping, part(0, "fragment2", last: true)],
                echoes: [echo(10, text("p")), whole]),
            Case("5.9", [part(0, "x", last: true)], code: 1002),
            Case("5.12", [part(0, "x")], code: 1002),
            Case(
                "5.15", [part(1, "a"), part(0, "b", last: true), part(0, "c")], echoes: [echo(1, text("ab"))],
                code: 1002),
            Case("5.18", [part(1, "fragment1"), part(1, "fragment2", last: true)], code: 1002),
            Case(
                "5.19",
                [part(1, "f1"), part(0, "f2"), ping, part(0, "f3"), ping, part(0, "f4"), part(0, "f5", last: true)],
                echoes: [echo(10, text("p")), echo(10, text("p")), echo(1, text("f1f2f3f4f5"))]),
            Case("binary within text", [part(1, "a"), Probe.frame(2, [1])], code: 1002),
            Case("empty fragments", [part(1, ""), part(0, ""), part(0, "", last: true)], echoes: [echo(1, [])]),
            Case(
                "as many fragments as the limit of bytes has pieces of 64",
                [part(1, "a")] + (0..<16_382).map { _ in part(0, "") } + [part(0, "b", last: true)],
                echoes: [echo(1, text("ab"))]),
            Case("one more", [part(1, "")] + (0..<16_384).map { _ in part(0, "") }, code: 1009),
        ])
    }

    @Test("6: text is valid UTF-8, cut at any place, and is refused as soon as it can't be")
    func utf8() async throws {
        let greek = text("Hello-µ@ßöäüàá-UTF-8!!")
        let valid: [[UInt8]] = [
            greek, text("κόσμε"), [0], [0x7F], [0xC2, 0x80], [0xE0, 0xA0, 0x80], [0xEF, 0xBF, 0xBF],
            [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
            [0xEF, 0xBF, 0xBE],
        ]
        let invalid: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0x81], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xC2], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
            text("κόσμε") + [0xED, 0xA0, 0x80] + text("edited"),
        ]
        var cases: [Case] = []
        for payload in valid {
            let bytes = [Probe.frame(1, payload)]
            cases.append(Case("valid \(payload)", bytes, echoes: [echo(1, payload)]))
            let pieces = payload.enumerated().map { index, byte in
                Probe.frame(index == 0 ? 1 : 0, [byte], isFinal: index == payload.count - 1)
            }
            cases.append(Case("valid in pieces \(payload)", pieces, echoes: [echo(1, payload)]))
        }
        for payload in invalid {
            cases.append(Case("invalid \(payload)", [Probe.frame(1, payload)], code: 1007))
            cases.append(Case("binary \(payload)", [Probe.frame(2, payload)], echoes: [echo(2, payload)]))
            cases.append(Case("close reason \(payload)", [Probe.frame(8, [3, 0xE8] + payload)], code: 1007))
        }
        // Fails fast: the message is not complete, and never will be valid.
        cases.append(Case("6.4", [Probe.frame(1, [0xCE, 0xBA, 0xF4, 0x90], isFinal: false)], code: 1007))
        try await run(cases)
    }

    @Test("7: closes are answered with their code, bad ones with 1002, and nothing follows them")
    func closing() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        func answer(_ bytes: [UInt8]) throws -> Int? {
            let probe = try gateway.opened("/api/runtime/echo?\(ada.query)")
            try probe.send(bytes + Probe.frame(1, text("after")) + Probe.frame(9))
            let frame = try probe.next()
            #expect(frame?.opcode == 8)
            #expect(try probe.next() == nil)
            return frame?.code
        }
        for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999] {
            #expect(try answer(Probe.close(code)) == code)
            #expect(try answer(Probe.close(code, String(repeating: "*", count: 123))) == code)
        }
        for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
            #expect(try answer(Probe.close(code)) == 1002, "\(code)")
        }
        #expect(try answer(Probe.frame(8)) == 1005)
        #expect(try answer(Probe.frame(8, [3])) == 1002)
        #expect(try answer(Probe.close(1000, String(repeating: "*", count: 124))) == 1002)
        #expect(try answer(Probe.close(1000) + Probe.close(1001)) == 1000)
        #expect(try answer(Probe.frame(1, text("f"), isFinal: false) + Probe.close(1000)) == 1000)
    }

    @Test("9: what is too long is refused by its header, and lengths that can't be are no lengths")
    func limits() async throws {
        let half = [UInt8](repeating: 0x61, count: Self.limit / 2)
        func header(_ length: [UInt8]) -> [UInt8] { Probe.frame(2, [], length: length) }
        try await run([
            Case("one byte too many", [header([127, 0, 0, 0, 0, 0, 0x10, 0, 1])], code: 1009),
            Case("2^62", [header([127, 0x40, 0, 0, 0, 0, 0, 0, 0])], code: 1009),
            Case("2^63 - 1", [header([127, 0x7F] + [UInt8](repeating: 0xFF, count: 7))], code: 1009),
            Case("2^63", [header([127, 0x80, 0, 0, 0, 0, 0, 0, 0])], code: 1002),
            Case("2^64 - 1", [header([127] + [UInt8](repeating: 0xFF, count: 8))], code: 1002),
            Case("125 in 16 bits", [header([126, 0, 125])], code: 1002),
            Case("65535 in 64 bits", [header([127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])], code: 1002),
            Case("ping of 126", [Probe.frame(9, [], length: [126, 0, 126])], code: 1002),
            Case(
                "in two halves", [Probe.frame(2, half, isFinal: false), Probe.frame(0, half)],
                echoes: [echo(2, half + half)]),
            Case(
                "two halves and a byte",
                [
                    Probe.frame(2, half, isFinal: false), Probe.frame(0, half, isFinal: false),
                    Probe.frame(0, [1]),
                ], code: 1009),
        ])
    }

    @Test("10: frames come in pieces of any size", arguments: [1, 2, 3, 7, 1000])
    func chopped(chunk: Int) async throws {
        let long = [UInt8](repeating: 0x2A, count: chunk > 10 ? 70_000 : 300)
        try await run(
            [
                Case("long", [Probe.frame(1, long)], echoes: [echo(1, long)]),
                Case(
                    "mixed",
                    [
                        Probe.frame(1, text("κόσμ"), isFinal: false), Probe.frame(9, text("p")),
                        Probe.frame(0, text("ε")),
                    ],
                    echoes: [echo(10, text("p")), echo(1, text("κόσμε"))]),
                Case("bad", [Probe.frame(1, [0xC0])], code: 1007),
            ], chunk: chunk)
    }
}
