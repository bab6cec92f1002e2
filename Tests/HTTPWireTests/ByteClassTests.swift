import HTTPWire
import NIOCore
import Testing

@Suite("Every byte")
struct ByteClassTests {
    private static let letters = "abcdefghijklmnopqrstuvwxyz"
    private static let digits = "0123456789"

    private func allowed(_ legal: String, _ text: (String) -> String, except: String = "") {
        for byte in UInt8.min...UInt8.max {
            let character = String(Unicode.Scalar(byte))
            guard !except.unicodeScalars.contains(Unicode.Scalar(byte)) else { continue }
            let isLegal = legal.unicodeScalars.contains(Unicode.Scalar(byte))
            #expect((Wire.parse(text(character)).outcome == .accepted) == isLegal, "byte \(byte)")
        }
    }

    @Test("of a field name is a token byte, or refused") func names() {
        let token = Self.letters + Self.letters.uppercased() + Self.digits + "!#$%&'*+-.^_`|~"
        allowed(token, { "GET / HTTP/1.1\r\nHost: a\r\nX\($0)Y: z\r\n\r\n" }, except: ":")
    }

    @Test("of a method is a token byte but no lower-case letter, or refused") func methods() {
        allowed(
            Self.letters.uppercased() + Self.digits + "!#$%&'*+-.^_`|~", { "X\($0)Y / HTTP/1.1\r\nHost: a\r\n\r\n" },
            except: " ")
    }

    @Test("of a target is a byte of RFC 3986, or refused") func targets() {
        let uri = Self.letters + Self.letters.uppercased() + Self.digits + "-._~!$&'()*+,;=:@/?%[]"
        allowed(uri, { "GET /a\($0)b HTTP/1.1\r\nHost: a\r\n\r\n" })
    }

    @Test("of a query is a byte of RFC 3986 or one that browsers leave raw, or refused") func queries() {
        let uri = Self.letters + Self.letters.uppercased() + Self.digits + "-._~!$&'()*+,;=:@/?%[]" + "{}|^`"
        allowed(uri, { "GET /a?b\($0)c HTTP/1.1\r\nHost: a\r\n\r\n" })
        for byte in UInt8.min...0x7F {
            let target = "/a?b\(Unicode.Scalar(byte))c"
            let isLegal = uri.unicodeScalars.contains(Unicode.Scalar(byte))
            #expect(((try? RequestHeadBuilder(method: "GET", target: target)) != nil) == isLegal, "byte \(byte)")
        }
    }

    @Test("that only a query may have is refused in front of one", arguments: ["{", "}", "|", "^", "`"])
    func rawBytesBeforeQuery(byte: String) {
        for target in ["/\(byte)", "/\(byte)?a", "/a\(byte)b?c=d", "http://a\(byte)/?b"] {
            #expect(Wire.parse("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n").outcome == .refused(.target))
            #expect(throws: WireError.self) { try RequestHeadBuilder(method: "GET", target: target) }
        }
        #expect(Wire.parse("CONNECT a:1?\(byte) HTTP/1.1\r\nHost: a:1\r\n\r\n").outcome == .refused(.target))
        let dripped = Wire.drip(Wire.bytes("GET /a?\(byte)b\(byte) HTTP/1.1\r\nHost: a\r\n\r\n")).0
        #expect(dripped.outcome == .accepted)
    }

    @Test("of a value is a tab or not a control byte, at any position") func values() {
        let legal =
            "\t"
            + String(
                String.UnicodeScalarView((0x20...0xFF).filter { $0 != 0x7F }.compactMap { Unicode.Scalar($0 as Int) }))
        for padding in 0...9 {
            let before = String(repeating: "v", count: padding)
            allowed(legal, { "GET / HTTP/1.1\r\nHost: a\r\nX: \(before)\($0)vvvvvvvvvvvv\r\n\r\n" })
        }
    }
}
