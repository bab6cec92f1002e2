import NIOCore
import NIOHPACK
import Testing

@testable import Edge

/// HTTP/2 requests on their way into the HTTP/1.1 parser: nothing may become more than the one head it was.
@Suite struct HTTP2RequestTextTests {
    private static let usual: [(String, String)] = [
        (":method", "GET"), (":path", "/x"), (":scheme", "https"), (":authority", "h"),
    ]

    private static func text(_ fields: [(String, String)], endsStream: Bool = true) -> String? {
        HTTP2RequestText.head(of: HPACKHeaders(fields), endsStream: endsStream).map { String(buffer: $0.text) }
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
        arguments: ["a\r\nX: 1", "a\nb", "a\rb", "a\0b", "a\u{01}"])
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
}
