import Foundation
import HostileTokens
import JOSE

// Attacks a verifier with every token of the catalogue and prints those it gets wrong; exits 1 if there are any. The
// verifier here is `JOSE` itself: put your own in its place.

let now = Int64(Date().timeIntervalSince1970)
let key = try SigningKey.generate(.es256)
let claims: JSONObject = [
    "iss": "https://issuer.example", "sub": "usr_1", "aud": "orders", "exp": .integer(now + 600), "iat": .integer(now),
    "jti": "t", "client_id": "c",
]
let rules = ClaimsRules.accessToken(issuer: "https://issuer.example", audience: ["orders"], leeway: 30)

/// The verifier under test.
func accepts(_ token: [UInt8]) -> Bool {
    guard let token = try? UnverifiedToken(token),
        case .success = token.verify(with: key.verificationKey, rules: rules, now: Double(now))
    else { return false }
    return true
}

// Give it a `TestIssuer` as well, with a key that the verifier trusts, for the attacks that need a right signature.
let material = try AttackMaterial(
    goodToken: key.sign(claims: claims, type: "at+jwt").utf8,
    keySet: Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8), now: now)

var (tried, wrong) = (0, 0)
for attack in AttackCatalogue.all {
    guard case .token(let bytes)? = try? attack.payload(from: material) else { continue }
    tried += 1
    guard accepts(bytes) != attack.expectation.isAccepted else { continue }
    wrong += 1
    print("\(attack.id): \(attack.title) (\(attack.reference))")
}
print("\(tried) tokens tried, \(wrong) judged wrongly")
exit(wrong == 0 ? 0 : 1)
