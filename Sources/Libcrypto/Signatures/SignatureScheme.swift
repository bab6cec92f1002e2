/// A signature scheme: the operation, its digest and its encoding.
package enum SignatureScheme: Sendable, Equatable {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2).
    case rsaPKCS1(DigestAlgorithm)
    /// RSASSA-PSS (RFC 8017 section 8.1), with MGF1 over the same digest and a salt as long as the digest (RFC 7518
    /// section 3.5).
    case rsaPSS(DigestAlgorithm)
    /// ECDSA; the signature is r‖s (RFC 7518 section 3.4).
    case ecdsa(Curve, DigestAlgorithm)
    /// Schemes that hash the message themselves: Ed25519, Ed448 (RFC 8032) and ML-DSA (FIPS 204).
    case pure

    /// The digest that is computed before the key operation; nil for ``pure``.
    var digest: DigestAlgorithm? {
        switch self {
        case .rsaPKCS1(let digest), .rsaPSS(let digest), .ecdsa(_, let digest): digest
        case .pure: nil
        }
    }

    /// Whether a key of this kind can be used with the scheme.
    package func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.rsaPKCS1, .rsa), (.rsaPSS, .rsa): true
        case (.ecdsa(let wanted, _), .ec(let curve)): wanted == curve
        case (.pure, .ed25519), (.pure, .ed448), (.pure, .mldsa): true
        default: false
        }
    }
}
