import HTTPWire
import NIOCore
import Testing

@Suite("A body")
struct BodyDecoderTests {
    @Test("ends where its framing says", arguments: [1, 2, 3, 7, Int.max])
    func framings(step: Int) {
        let none = BodyOutcome(.none, Wire.bytes("next"), step: step)
        #expect(none.isComplete && none.data.isEmpty && none.left == 4)
        let empty = BodyOutcome(.length(0), Wire.bytes("next"), step: step)
        #expect(empty.isComplete && empty.left == 4)
        let five = BodyOutcome(.length(5), Wire.bytes("hellonext"), step: step)
        #expect(five.isComplete && five.data == Wire.bytes("hello") && five.left == 4)
        let short = BodyOutcome(.length(5), Wire.bytes("hell"), step: step)
        #expect(!short.isComplete && short.error == nil && short.data == Wire.bytes("hell"))
        let close = BodyOutcome(.untilClose, Wire.bytes("all of it"), step: step)
        #expect(!close.isComplete && close.data == Wire.bytes("all of it"))
    }

    static let accepted: [(String, String)] = [
        ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"), ("3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hello"),
        ("0005\r\nhello\r\n000\r\n\r\n", "hello"), ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("a;x=1\r\n0123456789\r\n0;y\r\n\r\n", "0123456789"), ("1;a;b=c;d=\"e \\\" f\"\r\nx\r\n0\r\n\r\n", "x"),
        ("1\r\nx\r\n0\r\nX-Check: 1\r\nContent-Lengths: 99\r\nAuthorization: Bearer x\r\n\r\n", "x"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
    ]

    @Test("in chunks is joined, extensions and trailers dropped", arguments: accepted, [1, 2, 5, Int.max])
    func chunks(body: (String, String), step: Int) {
        let outcome = BodyOutcome(.chunked, Wire.bytes(body.0 + "GET"), step: step)
        #expect(outcome.isComplete)
        #expect(outcome.data == Wire.bytes(body.1))
        #expect(outcome.left == 3)
    }

    static let refused: [(String, WireError.Code)] = [
        ("0x2\r\nab\r\n", .chunk), ("+2\r\nab\r\n", .chunk), ("-2\r\nab\r\n", .chunk), ("2 \r\nab\r\n", .chunk),
        (" 2\r\nab\r\n", .chunk), ("2;\r\nab\r\n", .chunkExtension), ("2; a\r\nab\r\n", .chunkExtension),
        ("2;a=\r\nab\r\n", .chunkExtension), ("2;a=\"b\r\nab\r\n", .chunkExtension), ("2;a\nab\r\n", .chunkExtension),
        ("2;a\rb\r\nab\r\n", .chunk), ("2;a=\"\n\"\r\nab\r\n", .chunkExtension),
        ("2;a=\"b\"c\r\nab\r\n", .chunkExtension),
        ("2;a\u{0}\r\nab\r\n", .chunkExtension), ("2\nab\r\n", .chunk), ("2\rab\r\n", .chunk), ("2\r\nabc\r\n", .chunk),
        ("2\r\nab0\r\n\r\n", .chunk), ("2\r\nab\n0\r\n\r\n", .chunk), ("\r\n", .chunk), (";a\r\n", .chunk),
        ("g\r\n", .chunk),
        ("2_0\r\n", .chunk), ("10000000000000000\r\n", .chunk), ("00000000000000002\r\nab", .chunk),
        ("8000000000000000\r\n", .chunk), ("FFFFFFFFFFFFFFFF\r\n", .chunk), ("2\u{b}\r\n", .chunk),
        ("0\r\nX : y\r\n\r\n", .trailer), ("0\r\n X: y\r\n\r\n", .trailer), ("0\r\nX: y\n\r\n", .trailer),
        ("0\r\nX: y\r\n z\r\n\r\n", .trailer), ("0\r\n: y\r\n\r\n", .trailer), ("0\r\nX: \u{0}\r\n\r\n", .trailer),
        ("0\r\nX\r\n\r\n", .trailer), ("0\r\nContent-Length: 5\r\n\r\n", .trailer),
        ("0\r\nX: y\r\ntransfer-ENCODING:chunked\r\n\r\n", .trailer), ("0\r\nHost: a\r\n\r\n", .trailer),
        ("0\r\n\n", .trailer), ("0\r\n\rX", .chunk), ("0\n\n", .chunk),
        ("2;" + String(repeating: "a", count: 257) + "\r\nab\r\n", .chunkExtension),
        ("0\r\nX: " + String(repeating: "a", count: 9000) + "\r\n\r\n", .trailer),
        (String(repeating: "1;" + String(repeating: "a", count: 200) + "\r\nx\r\n", count: 100), .chunkExtension),
    ]

    @Test("in broken chunks is refused", arguments: refused, [1, Int.max])
    func brokenChunks(body: (String, WireError.Code), step: Int) {
        #expect(BodyOutcome(.chunked, Wire.bytes(body.0), step: step).error == body.1)
    }

    @Test("may announce a chunk of the largest possible size") func largestChunk() {
        let outcome = BodyOutcome(.chunked, Wire.bytes("7FFFFFFFFFFFFFFF\r\nab"))
        #expect(outcome.error == nil && outcome.data == Wire.bytes("ab"))
    }

    @Test("is returned in slices no larger than requested") func slices() {
        var decoder = BodyDecoder(.length(10))
        var buffer = ByteBuffer(string: "0123456789")
        var sizes: [Int] = []
        while case .data(let piece) = decoder.next(&buffer, maxSlice: 4) { sizes.append(piece.readableBytes) }
        #expect(sizes == [4, 4, 2] && decoder.isComplete)
    }

    @Test(
        "cut short is a fault unless the close was its end",
        arguments: [
            (BodyFraming.length(5), false), (.chunked, false), (.untilClose, true), (.none, true), (.length(0), true),
        ])
    func closed(framing: BodyFraming, isEnd: Bool) {
        var decoder = BodyDecoder(framing)
        switch decoder.finish() {
        case .end: #expect(isEnd)
        case .failed(let error): #expect(!isEnd && error.code == .truncatedBody)
        default: Issue.record("neither an end nor a fault")
        }
    }
}
