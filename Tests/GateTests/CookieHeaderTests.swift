import Testing

@testable import Gate

@Suite struct CookieHeaderTests {
    @Test(
        "Gateway cookies are taken out, others stay as they were",
        arguments: [
            ("a=1; gatehouse=x; b=2", "a=1; b=2"), ("gatehouse=x", nil), ("gatehouse2=x", "gatehouse2=x"),
            ("a=1;;b=2", "a=1; b=2"),
            ("a=1;gatehouse-refresh=2;b=3", "a=1; b=3"), ("gatehouse =1", nil), ("\tgatehouse=1", nil),
            ("gatehouse", nil),
            ("=gatehouse=1; a=1", "a=1"), ("GATEHOUSE=1", "GATEHOUSE=1"), ("", nil), ("; ;", nil), ("a=b=c", "a=b=c"),
            ("__Host-gatehouse=1; __Host-gatehouse-refresh=2; __Host-other=3", "__Host-other=3"),
        ] as [(String, String?)])
    func stripping(cookie: String, kept: String?) {
        let left = Array(cookie.utf8).withUnsafeBytes { CookieHeader.strippingGatewayCookies($0) }
        #expect(left.map { String(decoding: $0, as: UTF8.self) } == kept)
    }

    @Test(
        "An answer's cookie is the gateway's whatever stands around its name",
        arguments: [
            ("gatehouse=1", true), (" gatehouse =1; Path=/", true), ("__Host-gatehouse-refresh=1; Secure", true),
            ("gatehouse", true),
            ("gatehouse; Path=/", true), ("=gatehouse=1", true), ("==gatehouse=1", true), ("= gatehouse=1", true),
            ("gatehouse2=1", false),
            ("a=gatehouse=1", false), ("a=b; gatehouse=1", false), ("", false),
        ])
    func setting(value: String, isOurs: Bool) {
        #expect(Array(value.utf8).withUnsafeBytes { CookieHeader.setsGatewayCookie($0) } == isOurs)
    }
}
