import HTTPWire
import NIOCore
import Testing

@testable import Edge
@testable import EdgeCore

/// `Forwarded` (RFC 7239): what of it is read, and who is believed.
@Suite struct ForwardedFieldTests {
    private typealias Element = ForwardedField.Element

    private static func read(_ lines: String...) -> [Element]? {
        ForwardedField(lines.map { Array($0.utf8) })?.elements
    }

    private static func node(_ text: String) -> ForwardedField.Node? {
        PackedAddress.bytes(of: text).map { .address($0) }
    }

    @Test(
        "A node is an address, perhaps with a port, or an obfuscated identifier",
        arguments: [
            ("192.0.2.43", "192.0.2.43"), ("192.0.2.43:47011", "192.0.2.43"), ("\"192.0.2.43:80\"", "192.0.2.43"),
            ("\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"), ("\"[2001:DB8::1]\"", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"), ("\"[::ffff:192.0.2.1]\"", "192.0.2.1"),
            ("\"192.0.2.43:_port\"", "192.0.2.43"), ("\"\\192.0.2.43\"", "192.0.2.43"), ("unknown", nil),
            ("Unknown", nil), ("_gazonk", nil), ("\"_SEVKISEK\"", nil), ("\"unknown:80\"", nil),
            ("\"_a.b-c:_d\"", nil),
        ] as [(String, String?)])
    func nodes(text: String, address: String?) {
        let expected = address.flatMap(Self.node) ?? .hidden
        #expect(Self.read("for=\(text)") == [Element(node: expected)])
    }

    @Test("Elements and parameters are told apart, on one line or several, names in any case")
    func elements() {
        let first = Element(node: Self.node("192.0.2.1"), proto: "https", host: "h.example:8443")
        let second = Element(node: Self.node("10.0.0.1"))
        #expect(
            Self.read("For=192.0.2.1;PROTO=HTTPS;host=\"h.example:8443\";by=_x, for=10.0.0.1") == [first, second])
        #expect(Self.read("for=192.0.2.1; proto=https ;host=h.example:8443 ,", ", for=10.0.0.1;;") == [first, second])
        #expect(Self.read("by=\"a,for=6.6.6.6;b\\\"\";x=\"\", for=10.0.0.1") == [Element(), second])
        #expect(Self.read("proto=http") == [Element(proto: "http")])
        #expect(Self.read("") == [] && Self.read(" , ;, ") == [])
    }

    @Test(
        "What can't be read is not read in part",
        arguments: [
            "for", "for=", "=1.2.3.4", "for =1.2.3.4", "for= 1.2.3.4", "for=1.2.3.4 proto=https", "for=\"1.2.3.4",
            "for=\"1.2.3.4\"x", "for=1.2.3.4;for=5.6.7.8", "for=1.2.3.4;For=1.2.3.4", "for=1.2.3", "for=1.2.3.4.5",
            "for=host.example", "for=\"2001:db8::1\"", "for=[2001:db8::1", "for=\"[1.2.3.4]\"", "for=\"[]\"",
            "for=[::1]x", "for=1.2.3.4:", "for=1.2.3.4:123456", "for=1.2.3.4:8a", "for=_", "for=\"_a b\"",
            "for=\"\"", "for=\"1.2.3.4\u{0}\"", "proto=\"\"", "proto=\"ht tp\"", "proto=1http", "host=\"\"",
            "host=\"a/b\"", "host=\"a b\"", "f(or=1.2.3.4", "for=1.2.3.4,x", "for=\"\\", "for=1.2.3.4\u{e9}",
        ])
    func malformed(line: String) {
        #expect(Self.read(line) == nil)
        #expect(Self.read("for=1.2.3.4", line) == nil && Self.read(line, "for=1.2.3.4") == nil)
    }

    @Test("Its length is bounded")
    func bounded() {
        let padding = String(repeating: ",", count: ForwardedField.maxBytes - 11)
        #expect(Self.read("for=1.2.3.4" + padding)?.count == 1)
        #expect(Self.read("for=1.2.3.4" + padding + ",") == nil && Self.read("for=1.2.3.4", padding + ",") == nil)
    }

    // MARK: Who is believed

    private static func said(_ line: String) throws -> ForwardedStatement {
        let field = try #require(ForwardedField([Array(line.utf8)]))
        return ForwardedStatement(field, isTrusted: { $0.first == 10 })
    }

    @Test(
        "The client is the first from the right that is no trusted proxy, and its proxy says how it came",
        arguments: [
            ("for=1.1.1.1;proto=http", "1.1.1.1", "http", nil),
            ("for=6.6.6.6;proto=https;host=evil, for=1.1.1.1;proto=http;host=h, for=10.0.0.1", "1.1.1.1", "http", "h"),
            ("for=1.1.1.1;proto=https, for=10.0.0.2;proto=http, for=10.0.0.1;proto=http", "1.1.1.1", "https", nil),
            ("for=10.0.0.2, for=10.0.0.1", "10.0.0.2", nil, nil),
            ("for=6.6.6.6, for=unknown;proto=https, for=10.0.0.1", "10.0.0.1", "https", nil),
            ("for=6.6.6.6;proto=https, proto=http", nil, "http", nil), ("for=6.6.6.6, for=_x", nil, nil, nil),
            ("", nil, nil, nil),
        ] as [(String, String?, String?, String?)])
    func clients(line: String, client: String?, proto: String?, host: String?) throws {
        let said = try Self.said(line)
        let address = client.flatMap { PackedAddress.bytes(of: $0) }
        #expect(said.client == address && said.proto == proto && said.host == host)
        #expect(said.isHidden == (line.contains("unknown") || line.contains("_")))
    }

    @Test("A long beginning does not push out what proxies wrote behind it")
    func longChains() throws {
        let beginning = (0..<60).map { "for=192.0.2.\($0)" }.joined(separator: ",")
        let said = try Self.said(beginning + ", for=1.1.1.1, for=10.0.0.1")
        #expect(said.client == [1, 1, 1, 1] && said.chain.count == 32 && said.chain.last == "10.0.0.1")
    }

    private static func xForwarded(_ fields: [String]) throws -> ForwardedStatement {
        var buffer = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        guard case .head(let head) = RequestHead.parse(&buffer) else { throw WireError(.startLine, "no head") }
        return ForwardedStatement(xForwarded: head, isTrusted: { $0.first == 10 })
    }

    @Test(
        "The chain for upstreams begins behind the last hop that is no address",
        arguments: [
            ("6.6.6.6, unknown", []), ("6.6.6.6, unknown, 10.0.0.1", ["10.0.0.1"]), ("unknown, 6.6.6.6", ["6.6.6.6"]),
            ("6.6.6.6, 1.1.1.1", ["6.6.6.6", "1.1.1.1"]),
        ] as [(String, [String])])
    func chains(entries: String, chain: [String]) throws {
        #expect(try Self.xForwarded(["X-Forwarded-For: " + entries]).chain == chain)
        let nodes = entries.split(separator: ",").map { "for=\($0.drop { $0 == " " })" }
        #expect(try Self.said(nodes.joined(separator: ", ")).chain == chain)
    }

    @Test(
        "Two families complete each other, and contradict each other to no effect",
        arguments: [
            (["X-Forwarded-For: 1.1.1.1"], "for=1.1.1.1;proto=https", true),
            (["X-Forwarded-For: 6.6.6.6, 1.1.1.1, 10.0.0.1"], "for=1.1.1.1", true),
            (["X-Forwarded-Host: H", "X-Forwarded-Proto: HTTPS"], "for=1.1.1.1;proto=https;host=h", true),
            (["X-Forwarded-For: unknown"], "for=unknown", true), ([], "for=1.1.1.1", true),
            (["X-Forwarded-For: 2.2.2.2"], "for=1.1.1.1", false), (["X-Forwarded-For: x"], "for=1.1.1.1", false),
            (["X-Forwarded-For: 1.1.1.1"], "for=_hidden", false), (["X-Forwarded-Proto: http"], "proto=https", false),
            (["X-Forwarded-Proto: https", "X-Forwarded-Proto: https"], "proto=https", false),
            (["X-Forwarded-Host: a"], "host=b", false),
            (["X-Forwarded-Host: b", "X-Forwarded-Host: b"], "host=b", false),
        ] as [([String], String, Bool)])
    func families(fields: [String], line: String, agree: Bool) throws {
        let merged = try Self.xForwarded(fields).merged(with: Self.said(line))
        #expect((merged != nil) == agree)
        if let merged, !line.contains("unknown") { #expect(merged.client == [1, 1, 1, 1]) }
    }
}
