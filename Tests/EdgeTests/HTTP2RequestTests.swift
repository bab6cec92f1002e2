import HTTPWire
import NIOCore
import NIOHPACK
import Testing

@testable import Edge

/// The requests that HTTP/2 heads make: nothing may become more than the one head it was.
@Suite struct HTTP2RequestTests {
    private static let usual: [(String, String)] = [
        (":method", "GET"), (":path", "/x"), (":scheme", "https"), (":authority", "h"),
    ]

    private static func text(_ fields: [(String, String)], endsStream: Bool = true) -> String? {
        guard case .request(let head, _) = request(fields, endsStream: endsStream) else { return nil }
        return String(buffer: head.bytes)
    }

    private static func request(_ fields: [(String, String)], endsStream: Bool = true) -> HTTP2Request {
        HTTP2Request.read(HPACKHeaders(fields), endsStream: endsStream, limits: WireLimits())
    }

    /// The same head, read as text.
    private static func scanned(_ text: String) -> RequestHead? {
        var bytes = ByteBuffer(string: text)
        guard case .head(let head) = RequestHead.parse(&bytes) else { return nil }
        return head
    }

    private static func replacing(_ name: String, _ value: String?) -> [(String, String)] {
        usual.compactMap { field in field.0 == name ? value.map { (name, $0) } : field }
    }

    @Test("A sound request becomes one head")
    func sound() {
        #expect(
            Self.text(Self.usual + [("te", "trailers"), ("cookie", "a=1"), ("cookie", "b=2")])
                == "GET /x HTTP/1.1\r\nHost: h\r\ncookie: a=1; b=2\r\n\r\n")
        #expect(
            Self.text(Self.usual, endsStream: false)
                == "GET /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(Self.text(Self.usual + [("content-length", "5")], endsStream: false)?.contains("chunked") == false)
        #expect(Self.text(Self.replacing(":authority", nil) + [("host", "h")]) == "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(
            Self.text([(":method", "OPTIONS"), (":path", "*")] + Self.usual.suffix(2))
                == "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(Self.text(Self.usual + [("host", "H")]) == "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
    }

    @Test(
        "Line ends, blanks and control bytes are refused wherever they stand",
        arguments: ["a\r\nX: 1", "a\nb", "a\rb", "a\0b", "a\u{01}", " a", "a ", "\ta", "a\t", " "])
    func controls(value: String) {
        #expect(Self.text(Self.usual + [("x-a", value)]) == nil)
        for name in [":method", ":path", ":authority", ":scheme"] {
            #expect(Self.text(Self.replacing(name, value)) == nil, "\(name)")
        }
    }

    @Test(
        "Names that no field has are refused", arguments: ["x a", "x:a", "X-Upper", "x\r\na", "", "x\0", "x(a)", " x"])
    func names(name: String) { #expect(Self.text(Self.usual + [(name, "v")]) == nil) }

    @Test(
        "Fields of a connection are refused",
        arguments: [
            ("connection", "close"), ("keep-alive", "1"), ("proxy-connection", "x"), ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("te", "gzip"), ("te", "trailers, gzip"), ("http2-settings", "AA"), ("host", "other"),
        ])
    func connectionFields(name: String, value: String) { #expect(Self.text(Self.usual + [(name, value)]) == nil) }

    @Test("Pseudo-fields are each there once, known, and well formed")
    func pseudoFields() {
        for name in [":method", ":path", ":scheme", ":authority"] {
            #expect(Self.text(Self.replacing(name, nil)) == nil, "\(name)")
        }
        #expect(Self.text(Self.usual + [(":path", "/admin")]) == nil && Self.text([(":foo", "x")] + Self.usual) == nil)
        #expect(Self.text([(":protocol", "websocket")] + Self.usual) == nil)
        for path in ["x", "", "*", "http://evil/x", "/x y"] {
            #expect(Self.text(Self.replacing(":path", path)) == nil, "\(path)")
        }
        #expect(
            Self.text(Self.replacing(":method", "CONNECT")) == nil && Self.text(Self.replacing(":method", "G T")) == nil
        )
        #expect(
            Self.text(Self.replacing(":authority", "a b")) == nil && Self.text(Self.replacing(":scheme", "ftp")) == nil)
        #expect(Self.text(Self.usual + [("host", "h"), ("host", "h")]) == nil)
    }

    @Test("A head that is built is the head that its text would be")
    func same() throws {
        let more: [[(String, String)]] = [
            [], [("accept", "*/*"), ("x-a", "")], [("x-a", "in\t between"), ("x_b", "1")],
            [("cookie", "a=1"), ("cookie", "b")],
            [("content-length", "12")], [("expect", "100-continue")], [("x-user-id", "u"), ("origin", "https://h")],
            [("session-id", "s"), ("sec-fetch-site", "none"), ("authorization", "Bearer x")],
        ]
        for fields in more {
            for path in ["/", "/a/b?c=d", "/a%20b?"] {
                let all = Self.replacing(":path", path) + fields
                guard case .request(let built, let isTunnel) = Self.request(all, endsStream: false) else {
                    Issue.record("refused: \(fields)")
                    continue
                }
                let read = try #require(Self.scanned(String(buffer: built.bytes)))
                #expect(!isTunnel && built.bytes == read.bytes && built.present == read.present)
                #expect(built.fields == read.fields)
                #expect(built.path == read.path && built.query == read.query && built.target == read.target)
                #expect(built.method == read.method && built.knownMethod == read.knownMethod)
                #expect(built.framing == read.framing && built.keepAlive == read.keepAlive)
                #expect(built.host == read.host && built.expectContinue == read.expectContinue)
                #expect(built.targetForm == read.targetForm && built.versionMinor == read.versionMinor)
            }
        }
    }

    @Test("A request for a tunnel is an upgrade with a key of its own")
    func tunnel() throws {
        let fields = [(":protocol", "websocket"), ("sec-websocket-key", "mine")] + Self.replacing(":method", "CONNECT")
        guard case .request(let head, true) = Self.request(fields, endsStream: false) else {
            Issue.record("no tunnel")
            return
        }
        #expect(head.knownMethod == .get && head.upgradeOffered && head.connectionSaysUpgrade && head.framing == .none)
        let key = try #require(head.only(.secWebSocketKey))
        #expect(head.string(key.value).count == 24)
    }

    @Test("The rules of every head hold, with the status that breaking them has over HTTP/1.1")
    func rules() {
        let cases: [([(String, String)], Int)] = [
            (Self.replacing(":path", "/" + String(repeating: "a", count: 9000)), 414),
            (Self.usual + [("x-a", String(repeating: "v", count: 33_000))], 431),
            (Self.usual + (0..<100).map { ("x-\($0)", "v") }, 431),
            (Self.usual + [("expect", "miracles")], 417), (Self.usual + [("content-length", "+1")], 400),
            (Self.usual + [("content-length", "1"), ("content-length", "1")], 400),
            (Self.replacing(":authority", "a@b"), 400),
            (Self.replacing(":method", "get"), 400), (Self.replacing(":path", "/a\"b"), 400),
        ]
        for (fields, status) in cases {
            guard case .refused(let error, false) = Self.request(fields) else {
                Issue.record("taken: \(status)")
                continue
            }
            #expect(error?.status == status)
        }
    }

    @Test("Trailers may be dropped unless they are malformed, or would frame or route the message")
    func trailers() {
        func fault(_ name: String, _ value: String) -> WireError? {
            HTTP2Request.fault(ofTrailers: HPACKHeaders([("x-first", "1"), (name, value)]))
        }
        #expect(fault("x-checksum", "1 2") == nil && fault("x-empty", "") == nil)
        for (name, value) in [
            ("content-length", "1"), ("host", "h"), ("x-t", "1 "), ("x-t", "\t1"), ("x-t", "a\u{0}b"), ("X-T", "1"),
            ("x t", "1"), (":path", "/"),
        ] { #expect(fault(name, value) != nil, "\(name): \(value)") }
    }
}
