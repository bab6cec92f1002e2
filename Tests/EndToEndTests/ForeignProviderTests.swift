import Foundation
import Testing

/// Signing in through identity providers that other people wrote, as they come from PyPI.
@Suite(.blocking) struct ForeignProviderTests {
    private static func get(_ url: String, post body: String? = nil) throws -> (location: String, body: String) {
        let arguments = ["-s", "-S", "-m", "60", "-w", "\n%{redirect_url}"] + (body.map { ["-d", $0] } ?? []) + [url]
        let result = try Program.run("curl", arguments)
        var lines = String(decoding: result.output, as: UTF8.self).components(separatedBy: "\n")
        let location = lines.popLast() ?? ""
        return (location, lines.joined(separator: "\n"))
    }

    private static func path(_ url: String) -> String {
        let parts = URLComponents(string: url)
        return (parts?.percentEncodedPath ?? "") + "?" + (parts?.percentEncodedQuery ?? "")
    }

    @Test(
        "oidc-provider-mock: sign in, be refused, log out at the provider",
        .enabled(if: Program.pythonHas("oidc_provider_mock")))
    func mock() async throws {
        let provider = try PythonServer.providerMock()
        let gateway = try await GatewayInProcess.start(
            ProviderSignInTests.base + """
                identity_providers:
                  - name: mock
                    issuer: \(provider.issuer)
                    client_id: any
                    client_secret: any
                    userinfo: true
                    trust_email: true
                    allowed: {email_domains: [example.com]}
                """, users: [])
        defer { gateway.stop() }
        func signIn(_ browser: inout BrowserProbe, as person: String, deny: Bool = false) throws -> RawResponse {
            let there = try browser.navigate("/api/auth/login/mock?return_to=/cart")
            guard let location = there["location"] else { return there }
            let answer = try Self.get(location, post: deny ? "action=deny" : "sub=\(person)")
            return try browser.navigate(Self.path(answer.location), from: "cross-site")
        }
        var browser = BrowserProbe(gateway)
        let anonymous = try browser.fetch("POST", "/api/session/create-anonymous", json: [:])
        let back = try signIn(&browser, as: "ada@example.com")
        #expect(back.status == 303 && back["location"] == "/cart", "\(back.text) \(gateway.log)")
        let tokens = try browser.tokens()
        #expect(tokens.sessionID == anonymous.json["session_id"] as? String)
        #expect(try gateway.me(tokens.token).json["email"] as? String == "ada@example.com")
        let out = try browser.fetch("POST", "/api/auth/logout", json: ["provider": true])
        #expect(
            out.json["end_session_url"] as? String == provider.issuer + "/oauth2/end_session?client_id=any")
        var stranger = BrowserProbe(gateway)
        #expect(
            try signIn(&stranger, as: "eve@evil.example")["location"] == "/cart?login_error=login_refused")
    }

    @Test(
        "An Authlib server: PKCE, iss in the response, at_hash, and back-channel logout",
        .enabled(if: Program.pythonHas("authlib") && Program.pythonHas("flask")),
        arguments: ["client_secret_post", "private_key_jwt"])
    func authlib(method: String) async throws {
        // The provider fetches the client's keys, so the gateway's port is chosen first.
        let port = try SocketAddressing.unusedPort()
        let assertion = method == "private_key_jwt" ? "client_assertion_jwt" : method
        let provider = try PythonServer([
            Program.script("authlib_provider.py"), "http://127.0.0.1:\(port)/.well-known/jwks.json", assertion,
        ])
        let secret = method == "private_key_jwt" ? "" : "client_secret: 'a secret: with / signs & ncode'"
        let gateway = try await GatewayInProcess.start(
            ProviderSignInTests.base + """
                identity_providers:
                  - name: authlib
                    issuer: \(provider.issuer)
                    client_id: gate
                    client_authentication: \(method)
                    tenant: acme
                    \(secret)
                """, users: [], listen: "127.0.0.1:\(port)")
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        let there = try browser.navigate("/api/auth/login/authlib")
        let location = try #require(there["location"], "\(there.text) \(gateway.log)")
        let answer = try Self.get(location)
        let back = try browser.navigate(Self.path(answer.location), from: "cross-site")
        #expect(back.status == 303 && back["location"] == "/", "\(back["location"] ?? "") \(gateway.log)")
        let tokens = try browser.tokens()
        #expect(try gateway.me(tokens.token).json["email"] as? String == "grace@authlib.example")
        let socket = try AgentProbe(gateway, tokens)
        let token = try Self.get(provider.issuer + "/logout-token").body
        expectStatus(
            try gateway.form("/api/auth/backchannel/authlib", [("logout_token", token)]), 200, gateway.log)
        #expect(try socket.untilClosed() == .close(4403, "session_ended"))
    }
}
