import Encodings
import JOSE

/// The tokens of the catalogue as a file that suites in other languages read.
public enum TokenVectors {
    /// The value of `format`.
    public static let format = "gatehouse-token-vectors"
    /// The version of the format. It changes when a reader would have to change.
    public static let version: Int64 = 1
    /// The algorithms whose keys the sets are made for.
    public static let algorithms: [SignatureAlgorithm] = [.es256, .rs256, .eddsa]
    /// Longer tokens are left out, in bytes.
    public static let tokenLimit = 128 * 1_024

    private static let issuer = "https://issuer.example"
    private static let audience = "vectors"
    private static let lifetime: Int64 = 300

    /// One set of vectors for each algorithm, signed with keys that are made for it and then forgotten.
    ///
    /// - Parameters:
    ///   - attacks: the attacks. Those that are no tokens, or do not fit a key, are left out of its set.
    ///   - now: seconds since 1970, which all times in the tokens are relative to.
    public static func file(_ attacks: [Attack] = AttackCatalogue.all, now: Int64) throws -> JSONObject {
        [
            "format": .string(format), "version": .integer(version),
            "sets": .array(try algorithms.map { .object(try set(attacks, $0, now: now)) }),
        ]
    }

    private static func set(_ attacks: [Attack], _ algorithm: SignatureAlgorithm, now: Int64) throws -> JSONObject {
        let key = try SigningKey.generate(algorithm, keyID: "vectors-" + algorithm.rawValue)
        let claims: JSONObject = [
            "iss": .string(issuer), "sub": "user-1", "aud": [.string(audience)], "exp": .integer(now + lifetime),
            "nbf": .integer(now - 5), "iat": .integer(now - 5), "jti": "good", "client_id": "client-1",
        ]
        let good = try key.sign(claims: claims, type: "at+jwt")
        let keySet = JWKSet.publicJSON(of: [key.verificationKey])
        let material = try AttackMaterial(
            goodToken: good.utf8, keySet: Array(keySet.utf8), issuer: TestIssuer(key), now: now)
        return [
            "algorithm": .string(algorithm.rawValue), "issuer": .string(issuer), "audience": .string(audience),
            "type": "at+jwt", "now": .integer(now), "key_set": .object(try StrictJSON.object(keySet)),
            "good_token": .string(good), "vectors": .array(try attacks.compactMap { try vector($0, material) }),
        ]
    }

    private static func vector(_ attack: Attack, _ material: AttackMaterial) throws -> JSONValue? {
        guard case .token(let token)? = try attack.payload(from: material), token.count <= tokenLimit else {
            return nil
        }
        var object: JSONObject = [
            "id": .string(attack.id), "title": .string(attack.title), "reference": .string(attack.reference),
            "group": .string(attack.category.rawValue), "accept": .bool(attack.expectation.isAccepted),
            "policy": .bool(attack.isPolicy),
        ]
        if let text = String(validating: token, as: UTF8.self) {
            object["token"] = .string(text)
        } else {
            object["token_base64url"] = .string(Base64URL.encode(token))
        }
        return .object(object)
    }
}
