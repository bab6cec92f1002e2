import DocumentationForTests
import Foundation
import JOSE
import Testing

/// Runs the examples of `JOSE.docc`. A test compares them with the page.
@Suite struct DocumentationTests {
    @Test("The page's example of verifying works")
    func verifying() throws {
        let issuer = try SigningKey.generate(.es256)
        let jwks = Array(JWKSet.publicJSON(of: [issuer.verificationKey]).utf8)
        var claims = goodClaims
        claims["iss"] = "https://issuer.example"
        claims["aud"] = "orders"
        let text = try issuer.sign(claims: claims, type: "at+jwt")

        // snippet
        let keys = try JWKSet(parsing: jwks, policy: .remote, algorithms: [.es256, .rs256])
        let rules = ClaimsRules.accessToken(issuer: "https://issuer.example", audience: ["orders"], leeway: 30)
        switch try UnverifiedToken(text).verify(with: keys, rules: rules, now: now) {
        case .success(let token): print("called by", token.claims.subject ?? "no subject")
        case .failure(let refusal): print("refused:", refusal.reason.rawValue)
        }
        // end

        #expect(throws: Never.self) { try UnverifiedToken(text).verify(with: keys, rules: rules, now: now).get() }
    }

    @Test("The page's example of signing works")
    func signing() throws {
        // snippet
        let key = try SigningKey.generate(.es256)
        let claims: JSONObject = ["iss": "https://issuer.example", "sub": "usr_1", "exp": 1_800_000_600]
        let token = try key.sign(claims: claims, type: "at+jwt")
        let published = JWKSet.publicJSON(of: [key.verificationKey])
        // end

        let keys = try JWKSet(parsing: published.utf8, policy: .remote)
        let verdict = try UnverifiedToken(token).verify(with: keys, rules: ClaimsRules(), now: now)
        #expect(throws: Never.self) { try verdict.get() }
    }

    @Test("The page's example of rules works")
    func rules() throws {
        // snippet
        var rules = ClaimsRules(issuer: "https://issuer.example", requiredClaims: ["exp", "sub"])
        rules.maximumLifetime = 900
        rules.additional = [.claim("tenant_id", is: "acme"), .claim("scope", atMost: 256)]
        // end

        let key = try Keys.key(.es256)
        var claims: JSONObject = [
            "iss": "https://issuer.example", "sub": "usr_1", "iat": 1_800_000_000, "exp": 1_800_000_600,
            "tenant_id": "acme",
        ]
        #expect(refusal(try key.sign(claims: claims, type: "JWT"), key.verificationKey, rules) == nil)
        claims["tenant_id"] = "other"
        #expect(refusal(try key.sign(claims: claims, type: "JWT"), key.verificationKey, rules) == .claimInvalid)
    }

    @Test("The page shows exactly what is run here")
    func page() throws {
        let shown = try DocumentedCode.shown(in: "Sources/JOSE/JOSE.docc/JOSE.md")
        #expect(try shown.count == 3 && shown == DocumentedCode.run(in: #filePath))
    }

    @Test("Every reason is documented")
    func reasons() throws {
        let path = DocumentedCode.packageRoot.appendingPathComponent("docs/token-refusals.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        for reason in TokenRefusal.Reason.allCases { #expect(page.contains("| `\(reason.rawValue)` |"), "\(reason)") }
        for code in JOSEError.Code.allCases { #expect(page.contains("| `\(code.rawValue)` |"), "\(code)") }
    }
}
