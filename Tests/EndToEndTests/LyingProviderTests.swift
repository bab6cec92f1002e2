import Encodings
import Foundation
import GatewayForTests
import JOSE
import Testing

/// A provider that lies in one way at a time, over real sockets. Every lie of a token and of a document by itself is in
/// `IdentityProvidersTests`; here it is what the browser, the session and the log see of it.
@Suite(.blocking) struct LyingProviderTests {
    typealias Script = FakeProvider.Script

    /// A lie after a good state, with the reason that the log gives for it.
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: String
        var more = ""
        let tell: @Sendable (inout Script) throws -> Void
    }

    private static func answer(_ path: String, _ text: String) -> @Sendable (inout Script) -> Void {
        { $0.raw[path] = { text } }
    }

    static let lies: [Lie] = [
        Lie(testDescription: "a key that is not the provider's", reason: "signature_invalid") {
            $0.signer = try SigningKey.generate(.es256, keyID: $0.keys[0].verificationKey.keyID)
        },
        Lie(testDescription: "an unknown kid", reason: "key_unknown") {
            $0.signer = try SigningKey.generate(.es256)
        },
        Lie(testDescription: "no signature", reason: "algorithm") {
            $0.editIDToken = { token in
                let payload = token.split(separator: ".")[1]
                return Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + ".\(payload)."
            }
        },
        Lie(testDescription: "another audience", reason: "audience_mismatch") {
            $0.editClaims = { $0["aud"] = "someone-else" }
        },
        Lie(testDescription: "another issuer", reason: "issuer_mismatch") {
            $0.editClaims = { $0["iss"] = "https://evil.example" }
        },
        Lie(testDescription: "the nonce of another sign-in", reason: "claim_invalid") {
            $0.editClaims = { $0["nonce"] = "another" }
        },
        Lie(testDescription: "no nonce", reason: "claim_missing") { $0.editClaims = { $0["nonce"] = nil } },
        Lie(testDescription: "a token of the past", reason: "expired") {
            $0.editClaims = { claims in
                claims["iat"] = 1_700_000_000
                claims["exp"] = 1_700_000_300
            }
        },
        Lie(testDescription: "no person", reason: "claim_missing") { $0.editClaims = { $0["sub"] = nil } },
        Lie(testDescription: "userinfo of another person", reason: "userinfo_subject_mismatch", more: "userinfo: true")
        {
            $0.userInfo = ["sub": "person-2"]
        },
        Lie(testDescription: "an answer that leads elsewhere", reason: "status_unexpected") {
            answer("/token", "HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")(&$0)
        },
        Lie(testDescription: "a huge answer", reason: "too_large") {
            let padding = String(repeating: " ", count: 300_000)
            answer("/token", FakeProvider.json("{}" + padding))(&$0)
        },
        Lie(testDescription: "an answer that breaks off", reason: "unreachable") {
            answer("/token", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{")(&$0)
        },
        Lie(testDescription: "an answer that never comes", reason: "timed_out") {
            $0.raw["/token"] = {
                // Nothing waits for it, and no stop of the machine makes it come in time.
                Thread.sleep(forTimeInterval: 30)
                return FakeProvider.json("{}")
            }
        },
        Lie(testDescription: "a page", reason: "content_type_unexpected") {
            answer("/token", FakeProvider.json("<p>hello", type: "text/html"))(&$0)
        },
        Lie(testDescription: "JSON with a name twice", reason: "malformed") {
            answer("/token", FakeProvider.json(#"{"token_type":"Bearer","token_type":"Bearer"}"#))(&$0)
        },
        Lie(testDescription: "a refusal of the code", reason: "code_refused") {
            answer("/token", FakeProvider.json(#"{"error":"invalid_grant"}"#, status: "400 Bad Request"))(&$0)
        },
        Lie(testDescription: "a key set that leads elsewhere", reason: "status_unexpected") {
            answer("/jwks", "HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")(&$0)
        },
        Lie(testDescription: "a response of another issuer", reason: "response_issuer_mismatch") {
            $0.response = "&iss=https%3A%2F%2Fevil.example"
        },
        Lie(testDescription: "an error instead of a code", reason: "authorization_failed") {
            $0.response = "&error=server_error"
        },
    ]

    @Test(
        "No user is signed in, the anonymous session lives on, the answer leads back, the reason is in the log",
        arguments: lies)
    func lie(_ lie: Lie) async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider, lie.more)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        _ = try browser.fetch("POST", "/api/session/create-anonymous", json: [:])
        let secret = browser.sessionSecret
        // The documents are known before the lie begins, unless it is about one that is asked for later.
        let there = try browser.navigate("/api/auth/login/idp?return_to=/cart")
        provider.change { script in try? lie.tell(&script) }
        let back = try browser.navigate(
            try provider.authorize(try #require(there["location"])), from: "cross-site")
        #expect(back.status == 303 && back["location"] == "/cart?login_error=provider_unavailable", "\(back.text)")
        #expect(back.all("set-cookie").isEmpty && browser.sessionSecret == secret)
        #expect(try browser.fetch("GET", "/api/session/current").json["state"] as? String == "anonymous")
        let isAudited = try await ProviderSignInTests.isAudited(gateway, back, "login.refused", lie.reason)
        let audit = ProviderSignInTests.audit(gateway)
        #expect(isAudited, "\(audit)")
        for secret in ["s3cret-of-the-client", "access-token-of-the-provider", "evil.example", secret ?? "?"] {
            #expect(!(audit + gateway.log).contains(secret), "\(secret)")
        }
        // The provider mends its ways, and the same browser signs in.
        provider.change { script in
            let honest = Script(keys: script.keys)
            script = honest
        }
        gateway.clock.advance(by: .seconds(60))
        let good = try browser.signIn(provider)
        #expect(good.status == 303 && good["location"] == "/", "\(good.text)")
    }

    @Test("A person or a rule of the provider that says no leads back with login_refused")
    func accessDenied() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        provider.change { $0.response = "&error=access_denied&error_description=%3Cscript%3E" }
        let back = try browser.signIn(provider)
        #expect(back.status == 303 && back["location"] == "/?login_error=login_refused")
        #expect(try await ProviderSignInTests.isAudited(gateway, back, "access_denied"))
        #expect(!(gateway.log + ProviderSignInTests.audit(gateway)).contains("script"))
        #expect(provider.requests(to: "/token") == 0)
    }

    @Test(
        "A discovery document that can't be used is 502, a page for people, and the next sign-in asks again",
        arguments: ["elsewhere", "huge", "other issuer", "no endpoint", "plain endpoint", "no server"])
    func discovery(lie: String) async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider)
        defer { gateway.stop() }
        let path = "/.well-known/openid-configuration"
        provider.change { script in
            switch lie {
            case "elsewhere":
                Self.answer(path, "HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")(
                    &script)
            case "huge": Self.answer(path, FakeProvider.json("{}" + String(repeating: " ", count: 300_000)))(&script)
            case "other issuer": script.editDiscovery = { $0["issuer"] = "https://evil.example" }
            case "no endpoint": script.editDiscovery = { $0["token_endpoint"] = nil }
            case "plain endpoint": script.editDiscovery = { $0["token_endpoint"] = "http://evil.example/token" }
            default: Self.answer(path, "")(&script)
            }
        }
        var browser = BrowserProbe(gateway)
        let page = try browser.navigate("/api/auth/login/idp")
        #expect(page.status == 502 && page["content-type"] == "text/html; charset=utf-8", "\(page.text)")
        #expect(page.text.contains("provider_unavailable") && !page.text.contains("evil"))
        #expect(try await ProviderSignInTests.isAudited(gateway, page, "request.refused", "provider_unavailable"))
        expectRefused(try gateway.request("GET", "/api/auth/login/idp"), 502, "provider_unavailable")
        provider.change { script in script = Script(keys: script.keys) }
        gateway.clock.advance(by: .seconds(60))
        #expect(try browser.signIn(provider)["location"] == "/")
    }

    @Test("Keys that the provider rotates are found without a restart")
    func rotation() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        #expect(try browser.signIn(provider)["location"] == "/")
        let next = try SigningKey.generate(.es256)
        provider.change { $0.keys = [next] }
        gateway.clock.advance(by: .seconds(5))
        #expect(try browser.signIn(provider)["location"] == "/")
        #expect(provider.requests(to: "/jwks") == 2 && provider.requests(to: "/.well-known/openid-configuration") == 1)
    }
}
