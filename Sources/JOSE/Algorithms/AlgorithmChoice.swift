import Libcrypto

/// Chooses the one algorithm of a key when the key is loaded, from the key and from what the caller allows. A token has
/// no part in it (RFC 8725 section 3.1).
enum AlgorithmChoice {
    /// The algorithm of an asymmetric key.
    ///
    /// - Parameters:
    ///   - kind: the key's kind.
    ///   - declared: the key's own `alg`.
    ///   - allowed: the algorithms that the caller accepts; empty for all that are on by default.
    /// - Throws: ``JOSEError/Code/algorithmMismatch`` if the two allow none, ``JOSEError/Code/algorithmUnavailable`` if
    ///   the installed libcrypto does not have it.
    static func algorithm(
        for kind: KeyKind, declared: SignatureAlgorithm?, allowed: [SignatureAlgorithm]
    ) throws(JOSEError) -> SignatureAlgorithm {
        let chosen = try choose(declared: declared, allowed: allowed, usual: usual(for: kind)) { $0.fits(kind) }
        if let kind = chosen.keyKind, !kind.isAvailable {
            throw JOSEError(.algorithmUnavailable, "\(chosen.rawValue) is not in this libcrypto")
        }
        return chosen
    }

    /// The HMAC algorithm of a shared secret, which must be at least as long as the digest (RFC 7518 section 3.2).
    static func symmetricAlgorithm(
        byteCount: Int, declared: SignatureAlgorithm?, allowed: [SignatureAlgorithm]
    ) throws(JOSEError) -> SignatureAlgorithm {
        let chosen = try choose(declared: declared, allowed: allowed, usual: .hs256) { $0.isSymmetric }
        guard let digest = chosen.hmacDigest, byteCount >= digest.byteCount else {
            throw JOSEError(.keyUnsound, "a secret shorter than the digest of \(chosen.rawValue) (RFC 7518 §3.2)")
        }
        return chosen
    }

    private static func choose(
        declared: SignatureAlgorithm?, allowed: [SignatureAlgorithm], usual: SignatureAlgorithm,
        fits: (SignatureAlgorithm) -> Bool
    ) throws(JOSEError) -> SignatureAlgorithm {
        if let declared, !fits(declared) {
            throw JOSEError(.algorithmMismatch, "the key says \(declared.rawValue), which is not for keys of its kind")
        }
        guard !allowed.isEmpty else {
            let chosen = declared ?? usual
            guard chosen.isOnByDefault else {
                throw JOSEError(.algorithmMismatch, "\(chosen.rawValue) is off unless it is asked for by name")
            }
            return chosen
        }
        if let declared {
            guard allowed.contains(declared) else {
                throw JOSEError(.algorithmMismatch, "the key says \(declared.rawValue), which is not asked for")
            }
            return declared
        }
        guard let chosen = allowed.first(where: fits) else {
            throw JOSEError(.algorithmMismatch, "a key that fits none of the algorithms asked for")
        }
        return chosen
    }

    /// The algorithm of a key without `alg`, if the caller allows all.
    private static func usual(for kind: KeyKind) -> SignatureAlgorithm {
        switch kind {
        case .rsa: .rs256
        case .ec(.p256): .es256
        case .ec(.p384): .es384
        case .ec(.p521): .es512
        case .ec(.secp256k1): .es256k
        case .ed25519: .ed25519
        case .ed448: .ed448
        case .mldsa(.mldsa44): .mldsa44
        case .mldsa(.mldsa65): .mldsa65
        case .mldsa(.mldsa87): .mldsa87
        }
    }
}
