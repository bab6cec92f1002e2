import HTTPWire
import NIOCore
import Runtime
import Testing

@testable import Edge

@Suite struct LineClockTests {
    @Test("It writes times as everywhere else, within a second, across it, back, and before the epoch")
    func times() {
        let clock = LineClock()
        for now: Int64 in [
            1_785_585_600_000, 1_785_585_600_007, 1_785_585_600_999, 1_785_585_601_000, 1_785_585_599_123, 0, -1,
            -1_000,
            4_102_444_799_999,
        ] {
            let written = BytePen.written(expecting: 0) { clock.write(now, to: &$0) }
            #expect(String(buffer: written) == Timestamp.text(now))
        }
    }

    @Test("A line is one JSON object, however long its members are")
    func line() throws {
        let long = String(repeating: "long \"member\"\n", count: 500)
        var buffer = ByteBuffer(string: "before\n")
        JSONLine.append(to: &buffer) { line in
            line.text("a", long)
            line.text("none", nil as String?)
            line.number("b", -5)
            line.milliseconds("c", .microseconds(12_034))
            line.text("d", [0x61, 0xFF, 0x0A] as [UInt8])
        }
        let escaped = long.replacing("\"", with: "\\\"").replacing("\n", with: "\\u000a")
        let expected = #"{"a":"\#(escaped)","b":-5,"c":12.034,"d":"a�\u000a"}"#
        #expect(String(buffer: buffer) == "before\n\(expected)\n")
    }
}
