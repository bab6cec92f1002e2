import Foundation
import HostileTokens
import JOSE
import JWTKit
import Testing

/// The claims of an access token, checked as JWTKit's documentation shows.
private struct AccessToken: JWTPayload {
    var iss: IssuerClaim
    var sub: SubjectClaim
    var aud: AudienceClaim
    var exp: ExpirationClaim
    var nbf: NotBeforeClaim?

    func verify(using algorithm: some JWTAlgorithm) throws {
        guard iss.value == "https://issuer.example" else {
            throw JWTError.claimVerificationFailure(failedClaim: iss, reason: "another issuer")
        }
        try aud.verifyIntendedAudience(includes: "orders")
        try exp.verifyNotExpired()
        try nbf?.verifyNotBefore()
    }
}

/// A verifier that trusts one key, and what an attacker makes of a token that it accepts.
private struct Setup {
    let keys = JWTKeyCollection()
    let material: AttackMaterial

    init(_ algorithm: SignatureAlgorithm) async throws {
        let now = Int64(Date().timeIntervalSince1970)
        let key = try SigningKey.generate(algorithm, keyID: "orders-1")
        let claims: JSONObject = [
            "iss": "https://issuer.example", "sub": "user-1", "aud": "orders", "exp": .integer(now + 900),
            "nbf": .integer(now - 5), "iat": .integer(now - 5), "jti": "1", "client_id": "c",
        ]
        let keySet = JWKSet.publicJSON(of: [key.verificationKey])
        // With the issuer's key, tokens with odd contents have a right signature: nothing but the check that they are
        // about can refuse them.
        material = try AttackMaterial(
            goodToken: key.sign(claims: claims, type: "at+jwt").utf8, keySet: Array(keySet.utf8),
            issuer: TestIssuer(key), now: now)
        try await keys.add(jwksJSON: keySet)
    }

    /// The function under test.
    func accepts(_ token: [UInt8]) async -> Bool {
        (try? await keys.verify(token, as: AccessToken.self)) != nil
    }
}

@Suite struct HostileTokenTests {
    /// What JWTKit judges differently with these rules: patterns, one a line, in `Differences.txt`. None of it lets
    /// anyone in without the issuer's key.
    private static let known: [String] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Differences.txt")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }()

    /// Not a mistake in a verdict: an empty `aud` in a token with a right signature fails a precondition of
    /// `AudienceClaim`, which ends the process and all other tests with it.
    private static let ending = "J23-aud-empty-array"

    @Test(
        "A hostile token is refused, and a good one in another spelling accepted",
        arguments: AttackCatalogue.all.filter { !$0.isPolicy && $0.id != ending })
    func attack(_ attack: Attack) async throws {
        let setup = try await Setup(.es256)
        // Nothing to send where the attack does not fit the key.
        guard case .token(let token)? = try attack.payload(from: setup.material) else { return }
        let isRight = await setup.accepts(token) == attack.expectation.isAccepted
        let isKnown = Self.known.contains { Glob.matches($0, attack.id) }
        withKnownIssue {
            #expect(isRight, "\(attack.id): \(attack.title) (\(attack.reference))")
        } when: {
            isKnown
        }
    }

    @Test("The control: the good token is accepted, and with one letter changed it is not")
    func control() async throws {
        let setup = try await Setup(.es256)
        #expect(await setup.accepts(setup.material.goodToken))
        var changed = setup.material.goodToken
        changed[changed.count - 4] ^= 1
        #expect(await !setup.accepts(changed))
    }
}
