import Encodings
import Foundation
import GatewayForTests
import Testing

/// The state: what it is bound to, and who is let in.
extension ProviderSignInTests {
    /// A sign-in that someone finishes otherwise than the browser that began it.
    private func refused(
        _ what: String, _ reason: String, _ gateway: GatewayInProcess, _ answer: RawResponse,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isRefused =
            answer.status == 400 && answer.text.contains("login_state_invalid") && answer.text.contains(reason)
        #expect(isRefused, "\(what): \(answer.status) \(answer.text)", sourceLocation: sourceLocation)
        guard isRefused else { return }
        #expect(answer["location"] == nil, sourceLocation: sourceLocation)
        #expect(
            try await Self.isAudited(gateway, answer, reason), "\(what): not in the audit log",
            sourceLocation: sourceLocation)
    }

    @Test(
        "Login CSRF and fixation: a sign-in that one browser began can be finished neither by another nor after a new secret"
    )
    func otherBrowser() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider, users: [.ada])
        defer { gateway.stop() }
        // The attacker begins, agrees as himself, and sends the victim the callback.
        var attacker = BrowserProbe(gateway)
        var victim = BrowserProbe(gateway)
        func callback() throws -> String {
            try provider.authorize(try #require(attacker.navigate("/api/auth/login/idp")["location"]))
        }
        _ = try victim.fetch("POST", "/api/session/create-anonymous", json: [:])
        try await refused(
            "login CSRF", "state_of_other_browser", gateway, try victim.navigate(callback(), from: "cross-site"))
        var empty = BrowserProbe(gateway)
        try await refused(
            "no cookie", "state_of_other_browser", gateway, try empty.navigate(callback(), from: "cross-site"))
        let state = try victim.fetch("GET", "/api/session/current").json["state"] as? String
        let isAnonymous = state == "anonymous" && victim.cookies["gatehouse-refresh"] == nil
        #expect(isAnonymous, "the victim is signed in as the attacker")
        #expect(provider.requests(to: "/token") == 0)
        // A secret that was planted before the sign-in is worth nothing after another sign-in on that session.
        let back = try callback()
        let secret = attacker.sessionSecret ?? ""
        let login = try gateway.attemptLogin(.ada, headers: [("Session-Secret", secret)])
        #expect(login.json["session"] as? String == "upgraded")
        try await refused("after a rotation", "state_of_other_browser", gateway, try attacker.navigate(back))
        #expect(provider.requests(to: "/token") == 0)
    }

    @Test("A state counts once, for ten minutes, for its provider, and the eleventh drops the first")
    func state() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let other = try FakeProvider()
        defer { other.stop() }
        let second = other.yaml(name: "other").split(separator: "\n").dropFirst().joined(separator: "\n") + "\n"
        let gateway = try await GatewayInProcess.start(Self.base + provider.yaml() + second, users: [])
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        func begin() throws -> String {
            try provider.authorize(try #require(browser.navigate("/api/auth/login/idp")["location"]))
        }
        let state = String(repeating: "A", count: 43)
        for (query, reason) in [
            ("", "state_missing"), ("?code=x", "state_missing"), ("?code=x&state=", "state_missing"),
            ("?code=x&state=short", "state_malformed"), ("?code=x&state=\(state)&state=\(state)", "state_repeated"),
            ("?code=x&state=\(state)", "state_unknown"),
        ] {
            try await refused(query, reason, gateway, try browser.navigate("/api/auth/callback/idp" + query))
        }
        // Mix-up: the answer of one provider at the other's endpoint. No code is sent anywhere.
        let mixed = try begin().replacingOccurrences(of: "callback/idp", with: "callback/other")
        try await refused("mix-up", "state_of_other_provider", gateway, try browser.navigate(mixed, from: "cross-site"))
        let used = try begin()
        #expect(try browser.navigate(used, from: "cross-site").status == 303)
        try await refused("twice", "state_unknown", gateway, try browser.navigate(used, from: "cross-site"))
        let first = try begin()
        for _ in 0..<10 { _ = try begin() }
        try await refused("the eleventh", "state_unknown", gateway, try browser.navigate(first, from: "cross-site"))
        let late = try begin()
        gateway.clock.advance(by: .seconds(10 * 60))
        try await refused("late", "state_unknown", gateway, try browser.navigate(late, from: "cross-site"))
        #expect(other.requests(to: "/token") == 0, "a code was sent to the other provider")
        #expect(provider.requests(to: "/token") == 1)
    }

    @Test("A session that belongs to another person is not taken over: 303 with session_conflict")
    func conflict() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider, users: [.bob])
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        let login: [String: Any] = ["email": TestUser.bob.email, "password": TestUser.bob.password]
        #expect(try browser.fetch("POST", "/api/auth/login", json: login).status == 200)
        let back = try browser.signIn(provider, query: "?return_to=/cart%3Flogin_error%3Dold%26a%3D1")
        #expect(back.status == 303 && back["location"] == "/cart?a=1&login_error=session_conflict")
        let session = try browser.fetch("GET", "/api/session/current")
        #expect(session.json["state"] as? String == "authenticated")
    }

    @Test("Whom the rules exclude is sent back with login_refused; the anonymous session lives on, the log says why")
    func notAllowed() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider, "allowed: {email_domains: [other.example]}")
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        _ = try browser.fetch("POST", "/api/session/create-anonymous", json: [:])
        let secret = browser.sessionSecret
        let back = try browser.signIn(provider, query: "?return_to=/a")
        #expect(back.status == 303 && back["location"] == "/a?login_error=login_refused")
        #expect(browser.sessionSecret == secret && browser.cookies["gatehouse-refresh"] == nil)
        #expect(try browser.fetch("GET", "/api/session/current").json["state"] as? String == "anonymous")
        #expect(try await Self.isAudited(gateway, back, "login.refused", "email_domain_not_allowed"))
    }
}
