import Testing

@testable import gatehouse

@Suite("Formats of values")
struct ValueFormatTests {
    private static let origins: [(String, String?)] = [
        ("https://app.example", "https://app.example"), ("HTTPS://App.Example:443", "https://app.example"),
        ("http://localhost:3000", "http://localhost:3000"), ("http://[::1]:80", "http://[::1]"),
        ("capacitor://localhost", "capacitor://localhost"), ("https://app.example/", nil), ("app.example", nil),
        ("*", nil), ("null", nil), ("https://u@app.example", nil), ("https://app.example?x", nil), ("https://", nil),
        ("https://a b", nil), ("https://app.example\\evil", nil),
    ]

    @Test("An origin is read into the form that browsers send", arguments: origins)
    func readsOrigins(text: String, origin: String?) {
        #expect(ValueFormat.origin.read(text) == origin)
    }

    private static let blocks: [(String, Bool)] = [
        ("10.0.0.0/8", true), ("127.0.0.1", true), ("fd00::/8", true), ("::1", true), ("0.0.0.0/0", true),
        ("10.0.0.0/33", false), ("::/129", false), ("10.0.0/8", false), ("10.0.0.0/", false), ("10.0.0.0/-1", false),
        ("10.0.0.0/+8", false), ("10.0.0.0/8/8", false), ("example.org", false), ("", false),
        ("unix", true), ("unix:/run/x.sock", false), ("Unix", false),
    ]

    @Test("A trusted proxy is an address, a block, or any peer on a Unix socket", arguments: blocks)
    func readsBlocks(text: String, isGood: Bool) {
        #expect((ValueFormat.addressBlock.read(text) != nil) == isGood)
    }

    @Test(
        "Permissions are octal digits, and written back as they were",
        arguments: [
            ("0660", 0o660), ("0600", 0o600), ("0000", 0), ("0060", 0o60), ("660", nil), ("0680", nil), ("1660", nil),
            ("0o66", nil), ("00660", nil), ("0-66", nil), ("", nil), ("rw", nil),
        ] as [(String, UInt32?)])
    func readsModes(text: String, mode: UInt32?) {
        let format = ValueFormat<UInt32>.fileMode
        #expect(format.read(text) == mode)
        if let mode { #expect(format.write(mode) == text) }
    }

    private static let paths: [(String, String?)] = [
        ("/", "/"), ("/orders", "/orders"), ("/orders/", "/orders"), ("/a/b.c/d-e", "/a/b.c/d-e"), ("", nil),
        ("orders", nil), ("//", nil), ("/a//b", nil), ("/a/../b", nil), ("/./a", nil), ("/a%2Fb", nil), ("/a?b", nil),
        ("/a#b", nil), ("/a;b", nil), ("/a\\b", nil), ("/ä", nil), ("/a b", nil),
        // One spelling for all that the file may have.
        ("/pro@x", "/pro@x"), ("/pro%40x", "/pro@x"), ("/[id]", "/%5Bid%5D"), ("/%5bid%5D/", "/%5Bid%5D"),
        ("/a\"<>^`{|}b", "/a%22%3C%3E%5E%60%7B%7C%7Db"), ("/%41", "/A"), ("/%c3%a4", "/%C3%A4"), ("/a%20b", "/a%20b"),
        ("/a%3Fb", "/a%3Fb"), ("/100%25", "/100%25"),
        // What no request can match.
        ("/%2e%2e/a", nil), ("/a/%2e", nil), ("/%", nil), ("/%zz", nil), ("/%00", nil), ("/%5c", nil), ("/%ff", nil),
        ("/a%3Bb", nil), ("/%252e", nil), ("/a/.", nil), ("/" + String(repeating: "a", count: 8192), nil),
    ]

    @Test(
        "A host has no port and no final dot",
        arguments: [
            ("Shop.example", "shop.example"), ("shop.example.", "shop.example"), ("10.0.0.1", "10.0.0.1"),
            ("[::1]", "[::1]"), ("shop.example..", nil), (".", nil), ("", nil), (".shop", nil), ("a..b", nil),
            ("a:80", nil),
        ] as [(String, String?)])
    func readsHosts(text: String, host: String?) { #expect(ValueFormat.hostName.read(text) == host) }

    @Test(
        "A method is one that is forwarded",
        arguments: [("get", "GET"), ("X-A", "X-A"), ("TRACE", nil), ("CONNECT", nil)] as [(String, String?)])
    func readsMethods(text: String, method: String?) { #expect(ValueFormat.method.read(text) == method) }

    @Test("A route's path is one canonical prefix", arguments: paths)
    func readsPaths(text: String, path: String?) {
        #expect(ValueFormat.routePath.read(text) == path)
    }

    private static let endpoints: [(String, String?)] = [
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000"), ("http://a:9000/", "http://a:9000"),
        ("https://[::1]:1", "https://[::1]:1"), ("unix:/run/x.sock", "unix:/run/x.sock"), ("ftp://a", nil),
        ("http://a/path", "http://a/path"),
        ("http://u:p@a", nil), ("http://a?b", nil), ("a:9000", nil), ("unix:x", nil),
        ("http://a:99999", nil),
    ]

    @Test("An upstream is a scheme, a host, a port and perhaps a path", arguments: endpoints)
    func readsEndpoints(text: String, endpoint: String?) {
        #expect(ValueFormat.endpoint(schemes: ["http", "https"]).read(text) == endpoint)
    }

    private static let loginURLs: [(String, Bool)] = [
        ("/login", true), ("https://app.example/login?x=1", true), ("//evil.example", false), ("javascript:x", false),
        ("/a\\b", false), ("login", false), ("/a\r\nb", false),
    ]

    @Test("A login page is a path of ours or a URL", arguments: loginURLs)
    func readsLoginURLs(text: String, isGood: Bool) {
        #expect((ValueFormat.loginURL.read(text) != nil) == isGood)
    }

    @Test(
        "No password is left in a URL that is shown",
        arguments: [
            "postgres://user:hunter2@db/x", "postgres://user:hunter2@@db/x", "postgres://user:hun/hunter2@db",
            "postgres://user:hunter2?@db", "postgres://u@db/x?password=hunter2&a=b",
            "postgres://db/x?sslpassword=hunter2",
            "https://idp.example/jwks?token=hunter2", "postgres://user:hunter2@db/x?user=a@b",
        ])
    func redactsPasswords(text: String) {
        #expect(!URLText.redacted(text).contains("hunter2"))
    }

    @Test(
        "Of a URL of others no user, no value of the query and no fragment is shown",
        arguments: [
            ("https://hunter2@h.example/a", "https://redacted@h.example/a"),
            ("https://u:hun/ter2@h.example/a", "https://redacted@h.example/a"),
            ("https://u:hun?ter#2@h.example/a?b=c", "https://redacted@h.example/a?b=redacted"),
            ("https://h.example/a#sig=hunter2", "https://h.example/a#redacted"),
            ("https://h.example/a?hunter2#hunter2?x", "https://h.example/a?redacted#redacted"),
            ("https://u:hunter2@h.example", "https://redacted@h.example"),
            ("https://h.example/x?sig=hunter2&hunter2", "https://h.example/x?sig=redacted&redacted"),
            ("/health?sig=hunter2&of=https://h", "/health?sig=redacted&of=redacted"),
            ("/health?auth=hunter2", "/health?auth=redacted"), ("keys/a.json", "keys/a.json"),
            ("https://h.example:1/x", "https://h.example:1/x"),
        ])
    func hidesValues(text: String, shown: String) {
        #expect(URLText.withoutValues(text) == shown)
    }

    @Test(
        "Of the URL of a webhook scheme, host and port are shown",
        arguments: [
            ("https://h.example/hooks/hunter2?k=hunter2", "https://h.example/redacted"),
            ("https://h.example:8443/hunter2", "https://h.example:8443/redacted"),
            ("http://[::1]:9/hunter2", "http://[::1]:9/redacted"),
            ("https://h.example?hunter2", "https://h.example/redacted"),
            ("https://h.example", "https://h.example"), ("https://h.example:1/", "https://h.example:1/"),
            ("https://u:hunter2@h.example/", "https://h.example/redacted"), ("hunter2", "redacted"),
        ])
    func hidesPaths(text: String, shown: String) {
        #expect(URLText.withoutPath(text) == shown)
    }

    @Test(
        "A URL without a password is shown as it is",
        arguments: ["sqlite:var/x.sqlite", "postgres://user@db:5432/x?sslmode=require", "https://idp.example/jwks"])
    func leavesOthers(text: String) {
        #expect(URLText.redacted(text) == text)
    }
}
