import Libcrypto

/// Finds the one algorithm of a key: from the key and from whoever loads it, never from a token.
enum AlgorithmChoice {
    /// - Parameters:
    ///   - declared: the key's own `alg`.
    ///   - allowed: what the caller accepts; empty for everything that is on by default.
    static func algorithm(
        for kind: KeyKind, declared: SignatureAlgorithm?, allowed: [SignatureAlgorithm]
    ) throws(JOSEError) -> SignatureAlgorithm {
        let chosen = try choose(declared: declared, allowed: allowed, usual: usual(for: kind)) { $0.fits(kind) }
        if let kind = chosen.keyKind, !kind.isAvailable {
            throw JOSEError(.algorithmUnavailable, "\(chosen.rawValue) is not in this libcrypto")
        }
        return chosen
    }

    /// The one algorithm of a secret of this length.
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

    /// The algorithm of a key that does not say.
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
