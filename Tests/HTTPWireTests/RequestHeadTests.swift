import HTTPWire
import NIOCore
import Testing

@Suite("A valid request head")
struct RequestHeadTests {
    private let browser = """
        GET /orders/17?page=2&q=a%20b HTTP/1.1\r
        Host: App.Example:8443\r
        Connection: keep-alive, X-Secret\r
        User-Agent: Mozilla/5.0\t(X11)\r
        Authorization:Bearer abc \t\r
        Cookie: a=b; c=d\r
        X_Auth_User: eve\r
        x-forwarded-for: 1.2.3.4\r
        \r\n
        """

    @Test("is split into ranges, which are trimmed and recognised")
    func takenApart() throws {
        let head = try #require(Wire.parse(browser).value)
        #expect(head.string(head.method) == "GET")
        #expect(head.knownMethod == .get)
        #expect(head.string(head.target) == "/orders/17?page=2&q=a%20b")
        #expect(head.string(head.path) == "/orders/17")
        #expect(head.query.map(head.string) == "page=2&q=a%20b")
        #expect(head.host.map(head.string) == "App.Example:8443")
        #expect(head.versionMinor == 1)
        #expect(head.framing == .none)
        #expect(head.keepAlive)
        #expect(head.first(.authorization).map { head.string($0.value) } == "Bearer abc")
        #expect(head.first(.userAgent).map { head.string($0.value) } == "Mozilla/5.0\t(X11)")
        #expect(head.connectionNominated.map(head.string) == ["X-Secret"])
        #expect(
            head.fields.map(\.id) == [
                .host, .connection, .userAgent, .authorization, .cookie, .other, .xForwarded,
            ])
        #expect(head.fields.map(\.hasPlainName) == [true, true, true, true, true, false, true])
        #expect(head.count(.cookie) == 1 && head.count(.dpop) == 0 && head.first(.dpop) == nil)
    }

    @Test("leaves the bytes after it in the buffer, where the next one starts")
    func pipelined() throws {
        var buffer = Wire.buffer("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nrest")
        var scanner = HeadScanner()
        let first = try #require(scanner.feed(&buffer).value)
        let second = try #require(scanner.feed(&buffer).value)
        #expect(first.string(first.target) == "/1")
        #expect(second.string(second.target) == "/2")
        #expect(buffer.readableBytes == 4)
    }

    @Test("has the same ranges when it arrives byte by byte after other bytes")
    func byteByByte() throws {
        let whole = try #require(Wire.parse(browser).value)
        let (result, taken) = Wire.drip(Wire.bytes(browser))
        let dripped = try #require(result.value)
        #expect(taken == browser.utf8.count)
        #expect(dripped.fields == whole.fields)
        #expect(dripped.bytes == whole.bytes)
        #expect(dripped.target == whole.target && dripped.query == whole.query)
    }

    @Test(
        "says how its body is framed",
        arguments: [
            ("Accept: */*", BodyFraming.none), ("Content-Length: 0", .length(0)), ("content-length: 12", .length(12)),
            ("Content-Length: 9223372036854775807", .length(.max)), ("Transfer-Encoding: chunked", .chunked),
            ("transfer-encoding:CHUNKED", .chunked),
        ])
    func framing(field: String, expected: BodyFraming) throws {
        #expect(try #require(Wire.parse(Wire.request(field)).value).framing == expected)
    }

    @Test(
        "says whether the connection goes on",
        arguments: [
            ("1.1", "", true), ("1.1", "close", false), ("1.1", "keep-alive, Close", false),
            ("1.1", "keep-alive", true),
            ("1.0", "", false), ("1.0", "keep-alive", true), ("1.0", "close, keep-alive", false),
            ("1.1", "x-close", true),
        ])
    func keepAlive(version: String, connection: String, expected: Bool) throws {
        let text = "GET / HTTP/\(version)\r\nHost: a\r\nConnection: \(connection)\r\n\r\n"
        #expect(try #require(Wire.parse(text).value).keepAlive == expected)
    }

    @Test(
        "has a target in the form its method allows",
        arguments: [
            ("GET /", TargetForm.origin, "/", nil as String?), ("GET /?", .origin, "/", ""),
            ("OPTIONS *", .asterisk, "", nil),
            ("GET http://A.example/p?q", .absolute, "/p", "q"), ("GET HTTPS://a.EXAMPLE", .absolute, "", nil),
            ("GET http://a.example?q=/", .absolute, "", "q=/"), ("CONNECT a.example:443", .authority, "", nil),
            ("GET /a?b?c", .origin, "/a", "b?c"), ("GET /x?a[]=1", .origin, "/x", "a[]=1"),
        ])
    func target(line: String, form: TargetForm, path: String, query: String?) throws {
        let head = try #require(Wire.parse("\(line) HTTP/1.1\r\nHost: a.example\r\n\r\n").value)
        #expect(head.targetForm == form)
        #expect(head.string(head.path) == path)
        #expect(head.query.map(head.string) == query)
    }

    @Test(
        "may have any of these hosts",
        arguments: [
            "a", "a.example", "a_b.example", "127.0.0.1:8080", "[::1]", "[2001:db8::1]:443", "a:1", "a:65535",
            "xn--bcher-kva.example",
        ])
    func host(_ host: String) {
        #expect(Wire.parse("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").outcome == .accepted)
    }

    @Test("may be HTTP/1.0 without Host, which is then taken from an absolute target")
    func http10() throws {
        #expect(try #require(Wire.parse("GET / HTTP/1.0\r\n\r\n").value).host == nil)
        let absolute = try #require(Wire.parse("GET http://b/ HTTP/1.0\r\n\r\n").value)
        #expect(absolute.host.map(absolute.string) == "b")
    }

    @Test("has the upgrade and the expectation that it states")
    func flags() throws {
        let head = try #require(
            Wire.parse(Wire.request("Upgrade: h2c", "Connection: Upgrade", "Expect: 100-Continue")).value)
        #expect(head.upgradeOffered && head.connectionSaysUpgrade && head.expectContinue)
        let plain = try #require(Wire.parse(Wire.request("Accept: x")).value)
        #expect(!plain.upgradeOffered && !plain.connectionSaysUpgrade && !plain.expectContinue)
    }

    @Test("finds fields that Connection lists, in any case")
    func nominated() throws {
        let head = try #require(
            Wire.parse(Wire.request("Connection: x-a,close", "X-A: 1", "X-B: 2", "connection: X-B")).value)
        let names = head.fields.filter { head.isNominated($0, by: head.connectionNominated) }.map {
            head.string($0.name)
        }
        #expect(names == ["X-A", "X-B"])
    }

    @Test("keeps bytes above 0x7F in values as they are")
    func opaqueBytes() throws {
        let head = try #require(Wire.parse(Wire.request("X-Name: \u{e9}\u{ff}")).value)
        let field = try #require(head.fields.last)
        #expect(head.withBytes(field.value) { Array($0) } == [0xE9, 0xFF])
    }

    @Test("gives no bytes for ranges of another head")
    func foreignRange() throws {
        let head = try #require(Wire.parse(Wire.request()).value)
        let far = ByteRange(start: 5000, end: 6000)
        #expect(head.string(far).isEmpty && !head.equals(far, "x") && head.slice(far).readableBytes == 0)
    }

    @Test("is accepted exactly up to its limits")
    func limits() {
        let head = "GET /\(String(repeating: "a", count: 50)) HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n"
        let size = head.utf8.count
        func outcome(head maxHead: Int, target: Int = 51, fields: Int = 2) -> Outcome {
            Wire.parse(head, limits: WireLimits(maxHead: maxHead, maxTarget: target, maxFields: fields)).outcome
        }
        #expect(outcome(head: size) == .accepted)
        #expect(outcome(head: size - 1) == .refused(.headTooLong))
        #expect(outcome(head: size, target: 50) == .refused(.targetTooLong))
        #expect(outcome(head: size, fields: 1) == .refused(.tooManyFields))
    }
}
