import Testing

@testable import Proxy

@Suite struct UpstreamTargetTests {
    @Test(
        "Scheme, host, port and base path are read",
        arguments: [
            ("http://a", "a", 80, false, ""), ("http://a:81/", "a", 81, false, ""),
            ("https://a.example/base/", "a.example", 443, true, "/base"),
            ("HTTP://a:9/x/y", "a", 9, false, "/x/y"), ("http://[::1]:8080", "::1", 8080, false, ""),
            ("http://[::1]", "::1", 80, false, ""),
        ])
    func urls(url: String, host: String, port: Int, isTLS: Bool, base: String) throws {
        let target = try #require(UpstreamTarget(url))
        #expect(
            target.address == .host(host, port: port) && target.isTLS == isTLS && target.basePath == Array(base.utf8))
    }

    @Test("A Unix socket is a path")
    func unixSocket() throws {
        let target = try #require(UpstreamTarget("unix:/run/a.sock"))
        #expect(
            target.address == .unixSocket("/run/a.sock") && target.serverName == nil && target.authority == "localhost")
    }

    @Test(
        "What is no upstream is refused",
        arguments: [
            "", "a:80", "ftp://a", "http://", "http://a@b", "http://a:0", "http://a:x", "http://a:65536", "unix:run",
            "http://[::1",
        ])
    func malformed(url: String) { #expect(UpstreamTarget(url) == nil) }

    @Test("TLS asks for names, never for addresses")
    func serverName() {
        #expect(UpstreamTarget("https://a.example")?.serverName == "a.example")
        #expect(
            UpstreamTarget("https://127.0.0.1")?.serverName == nil && UpstreamTarget("https://[::1]")?.serverName == nil
        )
    }

    @Test(
        "The upstream's own name leaves the scheme's port out",
        arguments: [
            ("http://a", "a"), ("https://a:443", "a"), ("http://a:443", "a:443"), ("http://[::1]:81", "[::1]:81"),
        ])
    func authority(url: String, name: String) { #expect(UpstreamTarget(url)?.authority == name) }
}
