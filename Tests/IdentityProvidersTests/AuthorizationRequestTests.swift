import Encodings
import JOSE
import Testing

@testable import IdentityProviders

@Suite("Requests to a provider")
struct AuthorizationRequestTests {
    @Test("PKCE is RFC 7636, appendix B") func pkce() {
        #expect(
            PKCE.challenge(ofVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("at_hash is OpenID Connect Core 1.0, appendix A.3") func accessTokenHash() {
        #expect(AccessTokenHash.value(of: Script.accessToken, algorithm: "RS256") == "77QmUPtjPfzWtF2AnpK9RQ")
        #expect(AccessTokenHash.value(of: Script.accessToken, algorithm: "ES384")?.utf8.count == 32)
        #expect(AccessTokenHash.value(of: Script.accessToken, algorithm: "EdDSA")?.utf8.count == 43)
        #expect(AccessTokenHash.value(of: Script.accessToken, algorithm: "HS256") == nil)
    }

    private func parameters(
        _ provider: ProviderConfiguration, _ hints: LoginHints = LoginHints()
    ) throws -> [String: String] {
        let endpoint = try #require(EndpointURL("https://idp.example/authorize?tenant=1"))
        let begun = AuthorizationRequest(
            to: provider, at: endpoint,
            redirectURI: AuthorizationRequest.redirectURI(issuer: gatewayIssuer, provider: provider.name),
            session: session, returnTo: .root, hints: hints, now: start)
        #expect(begun.location.hasPrefix("https://idp.example/authorize?tenant=1&"))
        let query = try #require(begun.location.split(separator: "?").last.map(String.init))
        let list = try #require(FormText.decode(query))
        #expect(Set(list.map(\.name)).count == list.count)
        return Dictionary(list.map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test("The authorization request has what the standards ask for, and the hints that were given") func request()
        throws
    {
        let sent = try parameters(
            Script.openID,
            LoginHints(prompt: "login", loginHint: "ada+x@example.com", maximumAge: 0, acrValues: ["phr", "urn:b"]))
        #expect(sent["response_type"] == "code" && sent["client_id"] == "client")
        #expect(sent["redirect_uri"] == "https://gate.example/api/auth/callback/acme")
        #expect(sent["scope"] == "openid email profile" && sent["code_challenge_method"] == "S256")
        #expect(sent["prompt"] == "login" && sent["login_hint"] == "ada+x@example.com")
        #expect(sent["max_age"] == "0" && sent["acr_values"] == "phr urn:b")
        for name in ["state", "nonce", "code_challenge"] { #expect(sent[name]?.utf8.count == 43) }
        let plain = try parameters(Script.openID)
        for name in ["prompt", "login_hint", "max_age", "acr_values"] { #expect(plain[name] == nil) }
        #expect(plain["state"] != sent["state"] && plain["nonce"] != sent["nonce"])
        #expect(try parameters(Script.github)["nonce"] == nil)
    }

    @Test(
        "Hints that can't be sent on are refused",
        arguments: [
            LoginHints(prompt: "none login"), LoginHints(prompt: "everything"), LoginHints(prompt: "login  consent"),
            LoginHints(loginHint: "a\nb"), LoginHints(loginHint: String(repeating: "a", count: 257)),
            LoginHints(maximumAge: -1), LoginHints(acrValues: ["a b"]), LoginHints(acrValues: [""]),
        ])
    func hints(hints: LoginHints) {
        #expect(!hints.isSound)
        #expect(LoginHints(prompt: "login consent", loginHint: "ada", maximumAge: 0, acrValues: ["a"]).isSound)
    }

    private func tokenRequest(
        _ authentication: ClientAuthentication, clientID: String = "client", key: SigningKey? = nil
    ) throws -> (headers: [String: String], form: [String: String]) {
        var provider = Script.openID
        provider.clientAuthentication = authentication
        provider.clientID = clientID
        let request = try TokenRequest.make(
            to: provider, at: try #require(EndpointURL("https://idp.example/token")), code: "c&d",
            codeVerifier: "verifier", redirectURI: "https://gate.example/cb", clientKey: key, now: start)
        #expect(request.method == .post && request.url.text == "https://idp.example/token")
        let form = try #require(FormText.decode(String(decoding: request.body, as: UTF8.self)))
        return (
            Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first },
            Dictionary(form.map { ($0.name, $0.value) }) { first, _ in first }
        )
    }

    @Test("The token request repeats code, redirection and verifier") func code() throws {
        let (headers, form) = try tokenRequest(.none)
        #expect(form["grant_type"] == "authorization_code" && form["code"] == "c&d")
        #expect(form["code_verifier"] == "verifier" && form["redirect_uri"] == "https://gate.example/cb")
        #expect(form["client_id"] == "client" && headers["Authorization"] == nil)
        #expect(
            headers["Content-Type"] == "application/x-www-form-urlencoded" && headers["Accept"] == "application/json")
    }

    @Test("HTTP Basic form-encodes identifier and secret first (RFC 6749 §2.3.1)") func basic() throws {
        let secret = try #require(ClientSecret("a:b+c %"))
        let (headers, form) = try tokenRequest(.secretBasic(secret), clientID: "my:client")
        // my%3Aclient:a%3Ab%2Bc+%25
        #expect(headers["Authorization"] == "Basic bXklM0FjbGllbnQ6YSUzQWIlMkJjKyUyNQ==")
        #expect(form["client_id"] == nil && form["client_secret"] == nil)
    }

    @Test("client_secret_post sends both in the body") func post() throws {
        let (headers, form) = try tokenRequest(.secretPost(try #require(ClientSecret("a&b"))))
        #expect(form["client_id"] == "client" && form["client_secret"] == "a&b" && headers["Authorization"] == nil)
    }

    @Test("private_key_jwt signs an assertion for this endpoint alone") func privateKey() throws {
        let key = try TestKeys.other.get()
        let (_, form) = try tokenRequest(.privateKeyJWT, key: key)
        #expect(form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        let text = try #require(form["client_assertion"])
        let rules = ClaimsRules(
            issuer: "client", audience: ["https://idp.example/token"], types: ["JWT"], subject: "client",
            requiredClaims: ["exp", "iat", "jti"], maximumLifetime: 60)
        let claims = try UnverifiedToken(text).verify(
            with: key.verificationKey, rules: rules, now: Double(start) / 1000
        ).get().claims
        #expect(claims.audience == ["https://idp.example/token"])
        let again = try #require(try tokenRequest(.privateKeyJWT, key: key).form["client_assertion"])
        #expect(try UnverifiedToken(again).unverifiedClaims().tokenID != claims.tokenID)
    }

    @Test("private_key_jwt needs a key that is no shared secret") func noKey() throws {
        #expect(throws: ProviderFault(.clientKeyUnusable, "")) { try tokenRequest(.privateKeyJWT) }
        let secret = try TestKeys.symmetric.get()
        #expect(throws: ProviderFault(.clientKeyUnusable, "")) { try tokenRequest(.privateKeyJWT, key: secret) }
    }

    @Test("A client secret has no description") func secret() throws {
        let secret = try #require(ClientSecret("top secret"))
        var dumped = ""
        dump(ClientAuthentication.secretPost(secret), to: &dumped)
        dump(Script.openID, to: &dumped)
        #expect(!dumped.contains("top secret") && !dumped.contains("s3cret") && !"\(secret)".contains("top"))
        #expect(ClientSecret("") == nil && ClientSecret("a\nb") == nil)
        #expect(ClientSecret(String(repeating: "a", count: 1025)) == nil)
    }

    @Test("The way to log out at the provider is a URL of its endpoint") func endSession() async throws {
        let provider = World(try Script()).provider()
        let url = await provider.endSessionURL(idToken: nil, redirectURI: "https://gate.example/?a=1")
        #expect(
            url
                == "https://idp.example/logout?client_id=client&post_logout_redirect_uri=https%3A%2F%2Fgate.example%2F%3Fa%3D1"
        )
        #expect(
            await provider.endSessionURL(idToken: "x.y.z", redirectURI: nil)?.hasSuffix("&id_token_hint=x.y.z") == true)
        #expect(await World(try Script.oauth2()).provider().endSessionURL(idToken: nil, redirectURI: nil) == nil)
    }
}
