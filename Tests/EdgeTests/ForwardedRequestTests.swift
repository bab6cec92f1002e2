import HTTPWire
import NIOCore
import Testing

@testable import Edge

@Suite struct ForwardedRequestTests {
    private func read(_ fields: String...) throws -> ForwardedRequest {
        var buffer = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        guard case .head(let head) = RequestHead.parse(&buffer) else { throw WireError(.startLine, "no head") }
        return ForwardedRequest(head)
    }

    @Test("Each thing is read from any of its names, and two of one are a fault")
    func names() throws {
        let traefik = try read(
            "X-Forwarded-Uri: /a?b", "X-Forwarded-Method: PUT", "X-Forwarded-Host: h", "X-Forwarded-For: 1.2.3.4")
        #expect(
            traefik.uri == Array("/a?b".utf8) && traefik.method == Array("PUT".utf8) && traefik.host == Array("h".utf8))
        #expect(traefik.isForwarded && !traefik.isDoubled)
        #expect(try read("X-Original-URI: /a").uri == Array("/a".utf8))
        #expect(try read("X-Original-URI: /a", "X-Forwarded-Uri: /a").isDoubled)
        #expect(try read("X-Forwarded-Host: a", "X-Forwarded-Host: a").isDoubled)
        #expect(try read("Forwarded: for=1").isForwarded && read("X-Forwarded-Proto: https").isForwarded)
        #expect(try !read("X-Remote-User: ada").isForwarded && !read("Accept: */*").isForwarded)
    }

    @Test(
        "A name of any family counts, and is doubled when it comes twice, in whatever case",
        arguments: [
            "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix",
            "X-Forwarded-Unheard-Of", "X-Original-URL", "X-Original-Host", "X-Rewrite-URL", "X-Real-IP",
        ])
    func families(name: String) throws {
        #expect(try read("\(name): a").isForwarded && !read("\(name): a", "Accept: a").isDoubled)
        #expect(try read("\(name): a", "Accept: a", "\(name.lowercased()): a").isDoubled)
    }

    @Test(
        "A forwarded target is a path or an http URI",
        arguments: [
            ("/a?b=c", "/a", "b=c", nil), ("/a", "/a", nil, nil), ("/a?", "/a", "", nil),
            ("https://h:1/a?b", "/a", "b", "h:1"), ("http://h", "", nil, "h"),
        ] as [(String, String, String?, String?)])
    func targets(uri: String, path: String, query: String?, host: String?) throws {
        let target = try #require(ForwardedURI(Array(uri.utf8)))
        #expect(String(buffer: target.path) == path)
        #expect(target.query.map { String(decoding: $0, as: UTF8.self) } == query)
        #expect(target.host.map { String(decoding: $0, as: UTF8.self) } == host)
    }

    @Test(
        "Everything else is refused",
        arguments: ["", "a", "*", "/a#b", "/a b", "/\u{e9}", "http://", "http:///a", "http://u@h/a", "ftp://h/a"])
    func malformed(uri: String) { #expect(ForwardedURI(Array(uri.utf8)) == nil) }
}
