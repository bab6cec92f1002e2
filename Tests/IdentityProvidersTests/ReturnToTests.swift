import RandomForTests
import Testing

@testable import IdentityProviders

@Suite("return_to")
struct ReturnToTests {
    @Test(
        "is a path of this origin with an optional query",
        arguments: [
            "/", "/cart", "/cart?step=2&x=%20", "/a/b.c/~d", "/?next=//evil.example", "/a?b?c", "/caf%C3%A9",
            "/a%20b/@c:d;e=f", "/...", "/.well-known/x", "/a//b", "/x?u=https%3A%2F%2Fevil.example",
        ])
    func good(text: String) {
        #expect(ReturnTo(text)?.text == text)
    }

    @Test(
        "is nothing that leads elsewhere",
        arguments: [
            "", "cart", "//evil.example", "///evil.example", "/\\evil.example", "\\/evil.example", "\\\\evil.example",
            "https://evil.example", "HTTPS:evil.example", "javascript:alert(1)", "//evil.example/..;/",
            "/\t/evil.example",
            "/\n/evil.example", "/\r\nLocation: x", " /cart", "/cart ", "/a b", "/cart#top", "/é", "/%2F/evil.example",
            "/%2fevil.example", "/%5Cevil.example", "/a%5cb", "/.//evil.example", "/..//evil.example", "/a/../b",
            "/%2e%2e//evil.example", "/%2E/x", "/a%0d%0ab", "/a%00", "/a%7F", "/a%", "/a%4", "/a%zz", "/a?b=%",
            "/a?b\\c", "/\u{0}", "/\u{7F}", "/\u{202E}", "?a=b", "/<a>", "/\"", "/a|b", "@evil.example",
            ".evil.example",
            ":80", "/;@evil.example\\",
        ])
    func bad(text: String) {
        #expect(ReturnTo(text) == nil)
    }

    @Test("is bounded") func length() {
        #expect(ReturnTo("/" + String(repeating: "a", count: 7999)) != nil)
        #expect(ReturnTo("/" + String(repeating: "a", count: 8000)) == nil)
    }

    @Test("is told once why the sign-in failed") func error() throws {
        let told = [
            "/": "/?login_error=login_refused", "/a?b=c": "/a?b=c&login_error=login_refused",
            "/a?": "/a?login_error=login_refused", "/a?b&&c=d?e": "/a?b&c=d?e&login_error=login_refused",
            "/a?login_error=x&b=c&login_error": "/a?b=c&login_error=login_refused",
            "/a?login_errors=x": "/a?login_errors=x&login_error=login_refused",
        ]
        for (text, expected) in told { #expect(try #require(ReturnTo(text)).adding(.refused) == expected) }
    }

    @Test("made of random bytes never names another host") func random() {
        let pieces = [
            "/", "\\", "//", "%2f", "%5c", "..", ".", "evil.example", "?", "#", "@", ":", "\t", "a", "%", "%00",
            "https:",
        ]
        var generator = SeededGenerator(seed: 9700)
        var accepted = 0
        for _ in 0..<50_000 {
            let count = Int.random(in: 1...6, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            guard let value = ReturnTo(text) else { continue }
            accepted += 1
            let path = value.text.prefix { $0 != "?" }
            #expect(path.hasPrefix("/") && !path.hasPrefix("//") && !path.contains("\\") && !value.text.contains("#"))
            #expect(ReturnTo(value.adding(.providerUnavailable)) != nil)
        }
        #expect(accepted > 100)
    }
}
