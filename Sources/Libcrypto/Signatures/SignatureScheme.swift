/// How a signature is made: the operation, its digest and its encoding.
package enum SignatureScheme: Sendable, Equatable {
    /// RSASSA-PKCS1-v1_5.
    case rsaPKCS1(DigestAlgorithm)
    /// RSASSA-PSS with MGF1 over the same digest and a salt as long as the digest.
    case rsaPSS(DigestAlgorithm)
    /// ECDSA with a signature of r‖s.
    case ecdsa(Curve, DigestAlgorithm)
    /// Schemes that hash for themselves: Ed25519, Ed448 and ML-DSA.
    case pure

    /// The digest that is taken before the key operation.
    var digest: DigestAlgorithm? {
        switch self {
        case .rsaPKCS1(let digest), .rsaPSS(let digest), .ecdsa(_, let digest): digest
        case .pure: nil
        }
    }

    /// Whether a key can be used so.
    package func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.rsaPKCS1, .rsa), (.rsaPSS, .rsa): true
        case (.ecdsa(let wanted, _), .ec(let curve)): wanted == curve
        case (.pure, .ed25519), (.pure, .ed448), (.pure, .mldsa): true
        default: false
        }
    }
}
