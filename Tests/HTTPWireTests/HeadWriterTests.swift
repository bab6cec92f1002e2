import HTTPWire
import NIOCore
import Testing

@Suite("A written head")
struct HeadWriterTests {
    private func written(_ write: (inout ByteBuffer) -> Void) -> String {
        var buffer = ByteBuffer()
        write(&buffer)
        return String(buffer: buffer)
    }

    @Test(
        "has the date of the second",
        arguments: [
            (Int64(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
            (-5, "Thu, 01 Jan 1970 00:00:00 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
    func date(seconds: Int64, expected: String) {
        #expect(written { HTTPDate.write(seconds, to: &$0) } == expected)
        #expect(expected.utf8.count == HTTPDate.length)
    }

    @Test(
        "has chunk sizes in hexadecimal",
        arguments: [
            (1, "1\r\n"), (15, "f\r\n"), (16, "10\r\n"), (255, "ff\r\n"), (4096, "1000\r\n"),
            (.max, "7fffffffffffffff\r\n"),
            (0, ""), (-1, ""),
        ])
    func chunk(length: Int, expected: String) {
        #expect(written { HeadWriter.chunkHeader(length: length, to: &$0) } == expected)
    }

    @Test("is parsed as what was written") func response() throws {
        var buffer = ByteBuffer()
        HeadWriter.statusLine(404, to: &buffer)
        HeadWriter.field("content-length", 12, to: &buffer)
        HeadWriter.field("cache-control", "no-store", to: &buffer)
        HeadWriter.date(784_111_777, to: &buffer)
        buffer.writeString("\r\n")
        let head = try #require(ResponseHead.parse(&buffer).value)
        #expect(head.status == 404 && head.string(head.reason) == "Not Found")
        #expect(head.framing == .length(12))
        #expect(head.first(.date).map { head.string($0.value) } == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("never has a byte that could end a line", arguments: ["a\r\nX: y", "a\nb", "a\0", "\u{7f}", "\u{1b}[0m"])
    func injection(value: String) {
        var buffer = ByteBuffer()
        #expect(!HeadWriter.field("x", checking: value, to: &buffer))
        #expect(buffer.readableBytes == 0)
        #expect(HeadWriter.field("x", checking: "é\ta", to: &buffer))
        #expect(String(buffer: buffer) == "x: é\ta\r\n")
    }

    @Test("copies the fields of another head") func copies() throws {
        let head = try #require(
            Wire.parse("GET /%61?b HTTP/1.0\r\nHost:a\r\nX-A: 1 \r\nX-B:\t2\r\nX-C:\r\nX-D: \r\n\r\n").value)
        let text = written { buffer in
            for field in head.fields { HeadWriter.field(copying: field, of: head, to: &buffer) }
        }
        #expect(text == "Host: a\r\nX-A: 1\r\nX-B: 2\r\nX-C: \r\nX-D: \r\n")
    }

    @Test(
        "forwards a status line",
        arguments: [
            ("HTTP/1.0 299 Odd One", "HTTP/1.1 299 Odd One"), ("HTTP/1.1 299 Odd One", "HTTP/1.1 299 Odd One"),
            ("HTTP/1.1 200", "HTTP/1.1 200 "), ("HTTP/1.1 200 ", "HTTP/1.1 200 "), ("HTTP/1.0 200", "HTTP/1.1 200 "),
            ("HTTP/1.1 503  two blanks", "HTTP/1.1 503  two blanks"),
        ])
    func passedOn(line: String, expected: String) throws {
        let head = try #require(Wire.parseResponse("\(line)\r\nContent-Length: 0\r\n\r\n").value)
        #expect(written { HeadWriter.statusLine(of: head, to: &$0) } == "\(expected)\r\n")
    }

    @Test("has a status line of its own") func statusLine() {
        #expect(written { HeadWriter.statusLine(7, to: &$0) } == "HTTP/1.1 500 Internal Server Error\r\n")
    }
}
