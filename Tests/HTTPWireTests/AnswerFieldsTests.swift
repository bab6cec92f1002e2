import HTTPWire
import NIOCore
import Testing

@Suite struct AnswerFieldsTests {
    private static func upstreamHead(_ fields: String) throws -> ResponseHead {
        var bytes = ByteBuffer(string: "HTTP/1.1 200 Fine\r\n\(fields)\r\n")
        guard case .head(let head) = ResponseHead.parse(&bytes) else { throw Unreadable() }
        return head
    }

    private struct Unreadable: Error {}

    private static func sample(_ form: AnswerFields.Form) -> AnswerFields {
        var fields = AnswerFields(form)
        fields.addStatusLine(404)
        fields.add("Content-Type", "text/plain")
        fields.add("X-Empty", "")
        fields.add("X-Written", expecting: 8) { $0.write("abc") }
        return fields
    }

    @Test("Over HTTP/1.1 each field is a line")
    func lines() {
        var fields = Self.sample(.lines)
        #expect(
            String(buffer: fields.takeLines())
                == "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nX-Empty: \r\nX-Written: abc\r\n")
        #expect(fields.pairs.isEmpty && fields.takeLines().readableBytes == 0)
    }

    @Test("Over HTTP/2 each field is a name in lower case and a value, and no line is made")
    func pairs() {
        let fields = Self.sample(.pairs)
        #expect(fields.lines.readableBytes == 0)
        #expect(fields.pairs.map(\.name) == ["content-type", "x-empty", "x-written"])
        #expect(fields.pairs.map(\.value) == ["text/plain", "", "abc"])
    }

    @Test("A value that would end a line adds no field", arguments: [AnswerFields.Form.lines, .pairs])
    func unsafe(_ form: AnswerFields.Form) {
        var fields = AnswerFields(form)
        for value in ["a\r\nSet-Cookie: x=y", "a\nb", "\0", "\u{7f}"] { fields.add("X-Field", value) }
        #expect(fields.pairs.isEmpty && fields.lines.readableBytes == 0)
    }

    @Test(
        "Fields of HTTP/1.1's connection are not sent over HTTP/2",
        arguments: ["Connection", "Upgrade", "Keep-Alive", "Transfer-Encoding", "TE", "Sec-WebSocket-Accept"])
    func connectionFields(_ name: String) {
        var (lines, pairs) = (AnswerFields(.lines), AnswerFields(.pairs))
        lines.add(name, "x")
        pairs.add(name, "x")
        #expect(String(buffer: lines.lines) == "\(name): x\r\n")
        #expect(pairs.pairs.isEmpty)
    }

    @Test("An upstream's fields keep their order and their repetitions, in both forms")
    func passedOn() throws {
        let head = try Self.upstreamHead(
            "Set-Cookie: a=1\r\nX-Left: out\r\nSet-Cookie:  b=2 \r\nETag: \"x\"\r\nX-E:\r\n")
        func made(_ form: AnswerFields.Form) -> AnswerFields {
            var fields = AnswerFields(form)
            fields.addStatusLine(of: head)
            fields.add(of: head) { head.string($0.name) != "X-Left" }
            return fields
        }
        #expect(
            String(buffer: made(.lines).lines)
                == "HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nSet-Cookie:  b=2\r\nETag: \"x\"\r\nX-E:\r\n")
        let pairs = made(.pairs).pairs
        #expect(pairs.map(\.name) == ["set-cookie", "set-cookie", "etag", "x-e"])
        #expect(pairs.map(\.value) == ["a=1", "b=2", "\"x\"", ""])
    }

    @Test("Fields that are kept written out are the same fields over HTTP/2")
    func written() {
        var kept = FieldLines()
        kept.add("X-Gatehouse-User", "usr_1")
        kept.add("X-Gatehouse-Name", "a: b")
        var (lines, pairs) = (AnswerFields(.lines), AnswerFields(.pairs))
        lines.add(kept)
        pairs.add(kept)
        #expect(lines.lines == kept.bytes)
        #expect(pairs.pairs.map(\.name) == ["x-gatehouse-user", "x-gatehouse-name"])
        #expect(pairs.pairs.map(\.value) == ["usr_1", "a: b"])
    }
}
