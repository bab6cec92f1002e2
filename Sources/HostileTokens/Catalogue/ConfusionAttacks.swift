import JOSE

/// J03: algorithm confusion. The header says HMAC, and the shared secret is the public key, which everyone can read.
enum ConfusionAttacks {
    static let all: [Attack] = [SignatureAlgorithm.hs256, .hs384, .hs512].flatMap { algorithm in
        KeyForms.all.map { attack(algorithm, $0) }
    }

    /// A token under an HMAC whose secret is the published key in one of its encodings. A verifier that lets the header
    /// choose the algorithm computes the same HMAC. Does not apply to targets with a shared secret.
    private static func attack(_ algorithm: SignatureAlgorithm, _ form: KeyForms.Form) -> Attack {
        Attack(
            id: "J03-\(algorithm.rawValue.lowercased())-\(form.name)",
            title: "\(algorithm.rawValue) under \(form.title) as the secret",
            reference: "RFC 8725 §2.1, CVE-2016-5431, CVE-2023-48223", category: .confusion
        ) { material in
            guard let key = material.key, !key.isSymmetric, let secret = try form.bytes(material, key) else {
                return nil
            }
            return .token(try material.forged(secret: secret, algorithm, keyID: material.keyID ?? key.keyID))
        }
    }
}
