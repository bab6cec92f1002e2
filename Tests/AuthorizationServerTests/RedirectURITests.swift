import AuthorizationServer
import Testing

@Suite("Redirect URIs") struct RedirectURITests {
    @Test(
        "What a client may register",
        arguments: [
            ("https://app.example/callback", true), ("https://app.example:8443/cb?x=1", true),
            ("http://127.0.0.1/cb", true), ("http://127.0.0.1:7777/cb", true), ("http://[::1]:1/cb", true),
            ("http://localhost:3000/cb", true), ("com.example.app:/callback", true),
            ("com.example.app://callback", true), ("http://app.example/cb", false), ("http://10.0.0.1/cb", false),
            ("javascript:alert(1)", false), ("data:text/html,x", false), ("myapp:/cb", false), ("myapp://cb", false),
            ("https://app.example/cb#f", false), ("https://user@app.example/cb", false), ("https:///cb", false),
            ("com.example.app:/cb#f", false), ("", false), ("/cb", false), ("https://app.example/ cb", false),
            ("https://app.example\\@evil.example/", false), ("java.script.:x", false), ("file:///etc/passwd", false),
        ])
    func registered(_ text: String, _ isGood: Bool) { #expect((RedirectURI(text) != nil) == isGood) }

    @Test(
        "A presented URI matches byte by byte, except for the port of a loopback address",
        arguments: [
            ("https://a.example/cb", "https://a.example/cb", true),
            ("https://a.example/cb", "https://a.example/cb/", false),
            ("https://a.example/cb", "https://a.example:443/cb", false),
            ("https://a.example/cb", "https://A.example/cb", false),
            ("https://a.example/cb", "https://a.example/cb?x=1", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", true),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:49152/other", false),
            ("http://127.0.0.1/cb", "http://[::1]:49152/cb", false),
            ("http://[::1]/cb", "http://[::1]:5/cb", true), ("http://127.0.0.1/cb", "http://localhost:5/cb", false),
            ("http://localhost:5/cb", "http://localhost:6/cb", false),
            ("http://localhost:5/cb", "http://localhost:5/cb", true),
        ])
    func matching(_ registered: String, _ presented: String, _ isSame: Bool) throws {
        let registered = try #require(RedirectURI(registered))
        // What cannot be read matches nothing.
        #expect((RedirectURI(presented).map(registered.matches) ?? false) == isSame)
    }
}
