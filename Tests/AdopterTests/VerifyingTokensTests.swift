import DocumentationForTests
import JOSE
import Testing

/// The article of `JOSE`, run as an adopter would.
@Suite("Article: verifying tokens") struct VerifyingTokensTests {
    // snippet
    /// Judges access tokens of one issuer. Make one, and keep it: it remembers the header that it read last.
    struct AccessTokens {
        let keys: JWKSet
        let rules: ClaimsRules
        let headers = HeaderMemo()

        init(issuer: String, audience: String, jwks: [UInt8]) throws(JOSEError) {
            keys = try JWKSet(parsing: jwks, policy: .remote, algorithms: [.es256])
            rules = ClaimsRules.accessToken(issuer: issuer, audience: [audience], leeway: 30)
        }

        /// - Parameter now: seconds since 1970.
        func caller(of text: String, now: Double) -> Result<String, TokenRefusal> {
            do throws(TokenRefusal) {
                let token = try UnverifiedToken(text, headers: headers)
                return token.verify(with: keys, rules: rules, now: now).map { $0.claims.subject ?? "" }
            } catch {
                return .failure(error)
            }
        }
    }
    // end

    @Test("What the article shows lets the right token in, and no other")
    func works() throws {
        let (key, stranger) = (try SigningKey.generate(.es256), try SigningKey.generate(.es256))
        let tokens = try AccessTokens(
            issuer: "https://issuer.example", audience: "orders",
            jwks: Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8))
        let claims: JSONObject = [
            "iss": "https://issuer.example", "sub": "usr_1", "aud": "orders", "exp": 1_800_000_600,
            "iat": 1_800_000_000, "jti": "t", "client_id": "c",
        ]
        let good = try key.sign(claims: claims, type: "at+jwt")
        for _ in 0..<3 { #expect(try tokens.caller(of: good, now: 1_800_000_000).get() == "usr_1") }
        let forged = try stranger.sign(claims: claims, type: "at+jwt")
        #expect(throws: TokenRefusal.self) { try tokens.caller(of: forged, now: 1_800_000_000).get() }
        #expect(throws: TokenRefusal(.expired, "")) { try tokens.caller(of: good, now: 1_800_001_000).get() }
        #expect(throws: TokenRefusal(.malformed, "")) { try tokens.caller(of: "a.b", now: 1_800_000_000).get() }
    }

    @Test("The article shows exactly what is run here")
    func page() throws {
        let shown = try DocumentedCode.shown(in: "Sources/JOSE/JOSE.docc/VerifyingTokens.md")
        #expect(try !shown.isEmpty && shown == DocumentedCode.run(in: #filePath))
    }
}
