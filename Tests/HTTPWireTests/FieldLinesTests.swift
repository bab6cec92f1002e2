import HTTPWire
import NIOCore
import Testing

@Suite("Fields written once")
struct FieldLinesTests {
    private static let fields = [
        ("X-A", "1"), ("Set-Cookie", "a=b; c"), ("X-Empty", ""), ("Set-Cookie", ": d: \u{e9}"),
    ]

    @Test("are lines of a head, and give each name and value back") func lines() {
        var lines = FieldLines()
        for (name, value) in Self.fields { lines.add(name, value) }
        #expect(
            String(buffer: lines.bytes)
                == "X-A: 1\r\nSet-Cookie: a=b; c\r\nX-Empty: \r\nSet-Cookie: : d: \u{e9}\r\n")
        #expect(lines.pairs.flatMap { [$0.name, $0.value] } == Self.fields.flatMap { [$0.0, $0.1] })
    }

    @Test("may be none") func none() {
        let lines = FieldLines()
        #expect(lines.bytes.readableBytes == 0)
        #expect(lines.pairs.isEmpty)
    }
}
