import Foundation
import HTTPWire
import NIOCore
import Testing

@Suite("A canonical path")
struct CanonicalPathTests {
    private func canonical(_ path: String, slash: Bool = false) -> String? {
        try? CanonicalPath(Wire.buffer(path), allowEncodedSlash: slash).string
    }

    @Test(
        "has one spelling",
        arguments: [
            ("", "/"), ("/", "/"), ("/a/b", "/a/b"), ("/a/", "/a/"), ("/a.b/c..d/e...", "/a.b/c..d/e..."),
            ("/.well-known/jwks.json", "/.well-known/jwks.json"), ("/%41%62c", "/Abc"), ("/%7euser", "/~user"),
            ("/a%20b", "/a%20b"), ("/%c3%a9", "/%C3%A9"), ("/%3f%23", "/%3F%23"), ("/a%2Db%5F", "/a-b_"),
            ("/[id]", "/%5Bid%5D"),
            ("/a;x=1", "/a;x=1"), ("/a%3bx=1", "/a%3Bx=1"), ("/a:b@c,d", "/a:b@c,d"), ("/a%3ab%40c%2Cd", "/a:b@c,d"),
            ("/%21%24%26%27%28%29%2a%2b%2c%3a%3d%40", "/!$&'()*+,:=@"),
            (
                "/%22%3c%3e%5b%5d%5e%60%7b%7c%7d",
                "/%22%3C%3E%5B%5D%5E%60%7B%7C%7D"
            ), ("/%2525", nil), ("/%2520", "/%2520"),
            ("/100%25", "/100%25"),
            ("/...", "/..."), ("/..a", "/..a"), ("/.a", "/.a"), ("/a.", "/a."), ("/%2ea", "/.a"), ("/ADMIN", "/ADMIN"),
            ("/%f0%9f%98%80", "/%F0%9F%98%80"),
        ] as [(String, String?)])
    func spelling(path: String, expected: String?) {
        #expect(canonical(path) == expected)
        if let expected { #expect(canonical(expected) == expected) }
    }

    /// Unescaped, and escaped with digits of either case. Longer UTF-8 sequences may not be unescaped in a target.
    @Test("is the same for every spelling of a byte, or does not exist", arguments: UInt8.min...UInt8.max)
    func everyByte(byte: UInt8) throws {
        let escapes = ["%%%02x", "%%%02X"].map { Array(String(format: $0, byte).utf8) }
        let paths = ([[byte]] + escapes).map { Array("/p".utf8) + $0 + Array("x/y".utf8) }
        let forms = paths.map { try? CanonicalPath(ByteBuffer(bytes: $0), allowEncodedSlash: true).string }
        let accepted = Set(forms.compactMap { $0 })
        switch byte {
        // A separator differs from its escape, and a parameter from its escape.
        case UInt8(ascii: "/"): #expect(forms == ["/p/x/y", "/p%2Fx/y", "/p%2Fx/y"])
        case UInt8(ascii: ";"): #expect(forms == ["/p;x/y", "/p%3Bx/y", "/p%3Bx/y"])
        case 0..<0x20, UInt8(ascii: "\\"), 0x7f...: #expect(accepted.isEmpty)
        default: #expect(accepted.count == 1 && forms[1] != nil && forms[1] == forms[2])
        }
        for form in accepted { #expect(canonical(form, slash: true) == form) }
    }

    static let refused = [
        "a", "*", "//", "//admin", "/a//b", "/a//", "/.", "/..", "/./a", "/../a", "/a/.", "/a/..", "/a/./b", "/a/../b",
        "/%2e", "/%2E%2e/a", "/.%2e", "/a/%2e%2e", "/..;/a", "/..;x=1/a", "/.;/a", "/..%3b/a", "/%2e%2e;/", "/a%2fb",
        "/a%2Fb", "/..%2fa", "/%5c", "/a%5Cb", "/\\", "/%00", "/a%0d%0ab", "/%1f", "/%7F", "/%", "/%4", "/%zz", "/a%2",
        "/%g1", "/%252e", "/%252E%252e", "/%252f", "/%255c", "/%2500", "/%250d", "/%257f", "/%25252e", "/%c0%af",
        "/%c0%ae",
        "/%e0%80%af", "/%ed%a0%80", "/%f5%80%80%80", "/%ff", "/%c3", "/%c3/", "/%c3a", "/%80", "/\u{e9}", "/a b",
        "/a\u{0}",
        "/a#b", "/a?b", "/<", "/|", "/\u{7f}", "/%253b", "/%25%32e", "/%252%65", "/%25%32%66",
    ]

    @Test("does not exist for an ambiguous path", arguments: refused)
    func ambiguous(path: String) {
        #expect(canonical(path) == nil)
    }

    @Test(
        "keeps an escaped slash where the route allows it, never as a separator",
        arguments: [
            ("/a%2fb", "/a%2Fb"), ("/@scope%2Fname/x", "/@scope%2Fname/x"), ("/..%2fa", nil), ("/a%2f..", nil),
            ("/a%2f%2e%2e%2fb", nil), ("/a/%2e%2fb", nil), ("/a%5cb", nil), ("/a%252fb", nil), ("/a%2f..;x/b", nil),
        ] as [(String, String?)])
    func encodedSlash(path: String, expected: String?) throws {
        #expect(canonical(path, slash: true) == expected)
        guard expected != nil else { return }
        #expect(try CanonicalPath(Wire.buffer(path), allowEncodedSlash: true).hasEncodedSlash)
    }

    @Test("tells whether it contains a semicolon") func parameters() throws {
        #expect(try CanonicalPath(Wire.buffer("/a;b/c")).hasParameters)
        #expect(try CanonicalPath(Wire.buffer("/a%3bb/c")).hasParameters)
        #expect(try !CanonicalPath(Wire.buffer("/a/c")).hasParameters)
    }

    @Test("of a plain path is a slice of the head") func slice() throws {
        let head = try #require(Wire.parse("GET /a/b?c HTTP/1.1\r\nHost: a\r\n\r\n").value)
        let path = try CanonicalPath(head)
        #expect(path.string == "/a/b")
        #expect(path.bytes.storageCapacity < 64)
    }

    @Test("exists only for targets with a path") func forms() throws {
        let absolute = try #require(Wire.parse("GET http://a HTTP/1.1\r\nHost: a\r\n\r\n").value)
        #expect(try CanonicalPath(absolute).string == "/")
        let asterisk = try #require(Wire.parse("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").value)
        #expect(throws: WireError(.path, "")) { try CanonicalPath(asterisk) }
    }
}
