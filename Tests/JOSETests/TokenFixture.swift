import Encodings
import Foundation

@testable import JOSE

let available = SignatureAlgorithm.allCases.filter(\.isAvailable)
let now = 1_800_000_000.0

let goodClaims: JSONObject = [
    "iss": "https://gate.example", "sub": "usr_1", "aud": ["gatehouse"], "exp": 1_800_000_600, "nbf": 1_799_999_990,
    "iat": 1_799_999_990, "jti": "t1", "client_id": "gatehouse",
]

let goodRules = ClaimsRules.accessToken(issuer: "https://gate.example", audience: ["gatehouse"], leeway: 30)

/// A token with a valid signature over any header and payload text.
func forge(_ key: SigningKey, header: String? = nil, payload: String? = nil) throws -> String {
    let header = header ?? #"{"alg":"\#(key.algorithm.rawValue)","typ":"at+jwt"}"#
    return try forge(
        key, headerSegment: Base64URL.encode(header.utf8),
        payloadSegment: Base64URL.encode((payload ?? goodClaims.serialized()).utf8))
}

func forge(_ key: SigningKey, headerSegment: String, payloadSegment: String) throws -> String {
    let input = headerSegment + "." + payloadSegment
    return input + "." + Base64URL.encode(try key.signature(over: Array(input.utf8)))
}

/// The reason for which a token is refused, or nil if it is accepted.
func refusal(
    _ token: String, _ key: VerificationKey, _ rules: ClaimsRules = goodRules, now: Double = now
) -> TokenRefusal.Reason? {
    do throws(TokenRefusal) {
        switch try UnverifiedToken(token).verify(with: key, rules: rules, now: now) {
        case .success: return nil
        case .failure(let refusal): return refusal.reason
        }
    } catch {
        return error.reason
    }
}

/// A file of `Tests/Vectors`.
func vector(_ name: String, file: String = #filePath) throws -> JSONObject {
    let url = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Vectors").appendingPathComponent(name)
    return try StrictJSON.object(Array(try Data(contentsOf: url)))
}
