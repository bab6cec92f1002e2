import DocumentationForTests
import HostileTokens
import JOSE
import Testing

/// The article of `HostileTokens`, run as an adopter would.
@Suite("Article: testing a verifier") struct TestingAVerifierTests {
    private static let now: Int64 = 1_800_000_000

    // snippet
    /// The attacks that a verifier gets wrong: a hostile token it accepts, or a good one it refuses.
    static func mistakes(
        of accepts: ([UInt8]) -> Bool, goodToken: String, jwks: String, now: Int64
    ) throws -> [String] {
        let material = try AttackMaterial(goodToken: goodToken.utf8, keySet: Array(jwks.utf8), now: now)
        return AttackCatalogue.all.compactMap { attack in
            // Nothing to send where the attack does not fit the key, or needs a signer that was not given.
            guard case .token(let bytes)? = try? attack.payload(from: material) else { return nil }
            return accepts(bytes) == attack.expectation.isAccepted ? nil : attack.id
        }
    }
    // end

    @Test("What the article shows passes a strict verifier and finds a lax one out")
    func works() throws {
        let key = try SigningKey.generate(.es256)
        let claims: JSONObject = [
            "iss": "https://issuer.example", "sub": "usr_1", "aud": "orders", "exp": .integer(Self.now + 600),
            "iat": .integer(Self.now), "jti": "t", "client_id": "c",
        ]
        let good = try key.sign(claims: claims, type: "at+jwt")
        let jwks = JWKSet.publicJSON(of: [key.verificationKey])
        let rules = ClaimsRules.accessToken(issuer: "https://issuer.example", audience: ["orders"], leeway: 30)
        let strict: ([UInt8]) -> Bool = { bytes in
            guard let token = try? UnverifiedToken(bytes),
                case .success = token.verify(with: key.verificationKey, rules: rules, now: Double(Self.now))
            else { return false }
            return true
        }
        #expect(try Self.mistakes(of: strict, goodToken: good, jwks: jwks, now: Self.now) == [])
        let lax: ([UInt8]) -> Bool = { (try? UnverifiedToken($0)) != nil }
        let found = try Self.mistakes(of: lax, goodToken: good, jwks: jwks, now: Self.now)
        #expect(found.contains { $0.contains("none") }, "\(found)")
    }

    @Test("The article shows exactly what is run here")
    func page() throws {
        let shown = try DocumentedCode.shown(in: "Sources/HostileTokens/HostileTokens.docc/TestingAVerifier.md")
        #expect(try !shown.isEmpty && shown == DocumentedCode.run(in: #filePath))
    }
}
