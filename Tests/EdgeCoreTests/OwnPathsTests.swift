import Testing

@testable import EdgeCore

@Suite("Which paths are the gateway's own")
struct OwnPathsTests {
    private let own = OwnPaths(api: [
        "/api/session/{id}", "/api/session", "/api/auth/login", "/oauth2/token", "/.well-known/jwks.json",
    ])

    @Test(
        "A declared path takes its family, and nothing beside it",
        arguments: [
            ("/api/session", "/api/session"), ("/api/session/ses_a/x", "/api/session/ses_a/x"),
            ("/api/sessions", "/api/session"), ("/api/sessions/ses_a", "/api/session/ses_a"),
            ("/api/auth/unknown", "/api/auth/unknown"), ("/oauth2", "/oauth2"), ("/oauth2/other", "/oauth2/other"),
            ("/.well-known/jwks.json", "/.well-known/jwks.json"),
            ("/api/sessionx", nil), ("/api", nil), ("/api/orders", nil), ("/oauth22", nil), ("/orders", nil),
            ("/", nil),
            ("/.well-known", nil), ("/.well-known/acme-challenge/x", nil), ("/API/session", nil),
        ] as [(String, String?)])
    func families(_ path: String, _ found: String?) {
        #expect(own.find(Array(path.utf8)) == found.map(OwnPath.api))
    }

    @Test("The decision endpoint and the Runtime have theirs without being declared")
    func others() {
        #expect(own.find(Array("/api/auth/verify/a/b".utf8)) == .verify(appended: Array("/a/b".utf8)))
        #expect(own.find(Array("/api/auth/verify".utf8)) == .verify(appended: []))
        #expect(own.find(Array("/api/auth/verifyx".utf8)) == .api("/api/auth/verifyx"))
        #expect(own.find(Array("/api/runtime/agent".utf8)) == .agent)
        #expect(own.find(Array("/api/runtime/echo".utf8)) == .echo)
        #expect(own.find(Array("/api/runtime/agent/x".utf8)) == .runtime)
        #expect(own.find(Array("/api/runtimes".utf8)) == nil)
    }

    @Test("A family that begins with a letter of its own is found without another edit")
    func anyLetter() {
        let own = OwnPaths(api: ["/zoo/keeper"])
        #expect(own.find(Array("/zoo/keeper".utf8)) == .api("/zoo/keeper"))
        #expect(own.find(Array("/zoology".utf8)) == nil)
    }
}
