import BasicsForTests
import Encodings
import Foundation
import GatewayForTests
import Testing

/// Signing in through an identity provider: from the anonymous session there and back to the same session.
@Suite(.blocking) struct ProviderSignInTests {
    static let base = "limits:\n  enabled: false\nerrors:\n  explain: true\naudit:\n  file: audit.log\n"

    static func start(
        _ provider: FakeProvider, _ more: String = "", users: [TestUser] = []
    ) async throws -> GatewayInProcess {
        try await GatewayInProcess.start(base + provider.yaml(more), users: users)
    }

    static func audit(_ gateway: GatewayInProcess) -> String {
        let file = gateway.directory.appendingPathComponent("audit.log")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }

    /// Whether the audit log gets a line of a request with these words. It is written after the answer.
    static func isAudited(_ gateway: GatewayInProcess, _ answer: RawResponse, _ words: String...) async throws -> Bool {
        guard let id = answer["x-request-id"] else { return false }
        return try await eventually {
            audit(gateway).split(separator: "\n").contains { line in
                line.contains(id) && words.allSatisfy { line.contains($0) }
            }
        }
    }

    @Test("The anonymous session becomes the person's: same id, new secret, a family that refreshes")
    func signIn() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        let anonymous = try browser.fetch("POST", "/api/session/create-anonymous", json: ["metadata": ["cart": 3]])
        let (id, secret) = (anonymous.json["session_id"] as? String, browser.sessionSecret)
        let back = try browser.signIn(provider, query: "?return_to=/cart%3Fstep%3D2")
        #expect(back.status == 303 && back["location"] == "/cart?step=2" && back["cache-control"] == "no-store")
        #expect(back["referrer-policy"] == "no-referrer" && back.body.isEmpty)
        let tokens = try browser.tokens()
        #expect(tokens.sessionID == id && browser.sessionSecret != secret)
        let planted = try gateway.current(secret ?? "")
        #expect(planted.status != 200, "the secret from before the sign-in opens the session")
        let session = try browser.fetch("GET", "/api/session/current")
        #expect(session.json["state"] as? String == "authenticated" && session.json["tenant_id"] as? String == "acme")
        #expect((session.json["metadata"] as? [String: Any])?["cart"] as? Int == 3)
        let me = try gateway.me(tokens.token)
        #expect(me.json["email"] as? String == "ada@idp.example")
        // The same person, later and in another browser.
        var elsewhere = BrowserProbe(gateway)
        #expect(try elsewhere.signIn(provider)["location"] == "/")
        #expect(try elsewhere.tokens().userID == tokens.userID)
        // A sign-in again on one's own session keeps its id, too.
        #expect(try browser.signIn(provider)["location"] == "/")
        #expect(try browser.tokens().sessionID == id)
        #expect(try await eventually { Self.audit(gateway).contains("session.resumed") })
        let log = Self.audit(gateway) + gateway.log
        for secret in ["s3cret-of-the-client", "access-token-of-the-provider", browser.sessionSecret ?? "?"] {
            #expect(!log.contains(secret))
        }
        #expect(log.contains(#""event":"login.succeeded","reason":"provider""#) && log.contains(#""provider":"idp""#))
    }

    @Test("A socket from before the sign-in is closed before the answer, and one from after lives through refreshes")
    func sockets() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        _ = try browser.signIn(provider)
        let first = try browser.tokens()
        let old = try AgentProbe(gateway, first)
        _ = try browser.signIn(provider)
        guard case .close = try old.untilClosed() else { return #expect(Bool(false), "the old socket lives") }
        let second = try browser.tokens()
        let kept = try AgentProbe(gateway, second)
        gateway.clock.advance(by: .seconds(10 * 60))
        _ = try browser.tokens()
        gateway.clock.advance(by: .seconds(6 * 60))
        #expect(try kept.run("echo", id: "c1").contains("\"result\""))
    }

    @Test("The list of providers needs no credentials and may be cached; the authorization request is as it must be")
    func there() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider, "display_name: Our Provider")
        defer { gateway.stop() }
        let list = try gateway.request("GET", "/api/auth/providers")
        #expect(list.status == 200 && list["cache-control"] == "public, max-age=60")
        #expect(
            list.text
                == #"{"providers":[{"name":"idp","display_name":"Our Provider","login_url":"/api/auth/login/idp"}],"#
                + #""password":true}"#)
        var browser = BrowserProbe(gateway)
        let there = try browser.navigate(
            "/api/auth/login/idp?prompt=login&login_hint=ada&max_age=60&acr_values=a%20b&return_to=/x")
        #expect(there.status == 303 && there["cache-control"] == "no-store" && browser.sessionSecret != nil)
        let location = try #require(there["location"])
        let items = try #require(URLComponents(string: location)?.queryItems)
        let sent = Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { _, _ in "twice" })
        #expect(location.hasPrefix(provider.issuer + "/authorize?"))
        #expect(sent["redirect_uri"] == gateway.origin + "/api/auth/callback/idp")
        #expect(sent["response_type"] == "code" && sent["code_challenge_method"] == "S256")
        #expect(sent["scope"] == "openid email profile" && sent["prompt"] == "login" && sent["login_hint"] == "ada")
        #expect(sent["max_age"] == "60" && sent["acr_values"] == "a b")
        #expect(sent["state"]?.utf8.count == 43 && sent["nonce"]?.utf8.count == 43)
        #expect(!location.contains(browser.sessionSecret ?? "?"))
    }

    @Test(
        "A return_to that is no path of this site is 400 before anything begins",
        arguments: [
            "https://evil.example/", "//evil.example", "/%5Cevil.example", "/%09/evil.example", "/a%23b", "evil",
            "/%2F/evil.example", "/x%0d%0aLocation:%20http://evil", "/..//evil.example",
        ])
    func openRedirect(value: String) async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        let encoded = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        // An escaped '#' in a path is a character of the path; a plain one begins a fragment.
        for query in value.contains("%23") ? [value] : [value, encoded] {
            let answer = try browser.navigate("/api/auth/login/idp?return_to=\(query)")
            if answer.status == 303, let there = answer["location"] {
                let back = try browser.navigate(try provider.authorize(there), from: "cross-site")
                Issue.record("open redirect to \(back["location"] ?? "nowhere")")
                continue
            }
            #expect(answer.status == 400 && answer["location"] == nil, "\(query)")
            #expect(try await Self.isAudited(gateway, answer, "request.refused", "return_to_refused"), "\(query)")
        }
        #expect(provider.requests.isEmpty)
    }

    @Test("An unknown provider is 404; people get a page, programs a problem")
    func unknown() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        for path in ["/api/auth/login/other", "/api/auth/callback/other?code=a&state=b"] {
            let page = try browser.navigate(path)
            #expect(page.status == 404 && page["content-type"] == "text/html; charset=utf-8", "\(path)")
            #expect(page["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
            expectRefused(try gateway.request("GET", path), 404, "not_found")
        }
        let post = try gateway.request("POST", "/api/auth/login/idp")
        expectRefused(post, 405, "method_not_allowed")
    }

    @Test("A provider without OpenID Connect is asked for the person, and for the e-mail address that is verified")
    func oauth2() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        provider.change { script in
            script.userInfo = ["id": 42, "name": "Ada", "email": "shown@example.com"]
            script.raw["/emails"] = {
                FakeProvider.json(
                    #"[{"email":"shown@example.com","primary":false,"verified":true},"#
                        + #"{"email":"ada@example.com","primary":true,"verified":true}]"#)
            }
        }
        let yaml = """
            identity_providers:
              - name: idp
                kind: oauth2
                issuer: our-old-server
                client_id: gate
                client_secret: s3cret-of-the-client
                authorization_endpoint: \(provider.issuer)/authorize
                token_endpoint: \(provider.issuer)/token
                userinfo_endpoint: \(provider.issuer)/userinfo
                emails_endpoint: \(provider.issuer)/emails
                subject_claim: id
                allowed: {email_domains: [example.com]}
            """
        let gateway = try await GatewayInProcess.start(Self.base + yaml, users: [])
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        let there = try browser.navigate("/api/auth/login/idp")
        #expect(there["location"]?.contains("nonce") == false && there["location"]?.contains("openid") == false)
        let back = try browser.navigate(try provider.authorize(try #require(there["location"])), from: "cross-site")
        #expect(back.status == 303 && back["location"] == "/", "\(back["location"] ?? "") \(gateway.log)")
        let tokens = try browser.tokens()
        #expect(try gateway.me(tokens.token).json["email"] as? String == "ada@example.com")
        #expect(provider.requests.last?["authorization"] == "Bearer access-token-of-the-provider")
        // There is neither a place to log out nor a logout token.
        expectStatus(try browser.fetch("POST", "/api/auth/logout", json: ["provider": true]), 204)
        expectStatus(
            try gateway.form("/api/auth/backchannel/idp", [("logout_token", try provider.logoutToken())]), 400)
    }

    @Test("Logging out with the provider says where it goes on, after everything has ended here")
    func logOut() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await Self.start(provider, users: [.ada])
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        _ = try browser.signIn(provider)
        let tokens = try browser.tokens()
        let socket = try AgentProbe(gateway, tokens)
        let out = try browser.fetch("POST", "/api/auth/logout", json: ["provider": true])
        #expect(out.status == 200)
        #expect(out.json["end_session_url"] as? String == provider.issuer + "/logout?client_id=gate")
        #expect(try socket.untilClosed() == .close(4403, "session_ended"))
        #expect(browser.cookies.isEmpty)
        expectRefused(try gateway.me(tokens.token), 401, "invalid_token")
        // Signed in with a password, there is no provider to go to.
        let ada = try gateway.login(.ada)
        let plain = try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer], json: ["provider": true])
        expectStatus(plain, 204)
    }
}
