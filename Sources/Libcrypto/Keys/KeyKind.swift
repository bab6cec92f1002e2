import CLibcrypto

/// The elliptic curves in use.
package enum Curve: String, Sendable, CaseIterable {
    /// NIST P-256 (FIPS 186-5), also secp256r1 and prime256v1.
    case p256 = "P-256"
    /// NIST P-384, also secp384r1.
    case p384 = "P-384"
    /// NIST P-521, also secp521r1.
    case p521 = "P-521"
    /// The curve of `ES256K` (RFC 8812).
    case secp256k1

    /// The length in bytes of a coordinate, of the private number, and of each half of a signature.
    package var coordinateByteCount: Int {
        switch self {
        case .p256, .secp256k1: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// libcrypto's name for the curve.
    var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        case .secp256k1: "secp256k1"
        }
    }
}

/// The parameter sets of ML-DSA (FIPS 204), under the names that libcrypto and JOSE both use.
package enum MLDSAParameters: String, Sendable, CaseIterable {
    /// Security category 2.
    case mldsa44 = "ML-DSA-44"
    /// Security category 3.
    case mldsa65 = "ML-DSA-65"
    /// Security category 5.
    case mldsa87 = "ML-DSA-87"
}

/// The algorithm of a key, with its size or curve.
package enum KeyKind: Sendable, Equatable {
    /// RSA with a modulus of this many bits (RFC 8017).
    case rsa(bits: Int)
    /// ECDSA on a curve (FIPS 186-5).
    case ec(Curve)
    /// Ed25519 (RFC 8032).
    case ed25519
    /// Ed448 (RFC 8032).
    case ed448
    /// ML-DSA (FIPS 204).
    case mldsa(MLDSAParameters)

    /// The name under which libcrypto fetches the algorithm.
    var algorithmName: String {
        switch self {
        case .rsa: "RSA"
        case .ec: "EC"
        case .ed25519: "ED25519"
        case .ed448: "ED448"
        case .mldsa(let parameters): parameters.rawValue
        }
    }

    /// Whether the installed libcrypto has the algorithm. ML-DSA was added in 3.5; all others are always there.
    package var isAvailable: Bool {
        guard case .mldsa = self else { return true }
        guard let implementation = EVP_SIGNATURE_fetch(nil, algorithmName, nil) else {
            ERR_clear_error()
            return false
        }
        EVP_SIGNATURE_free(implementation)
        return true
    }

    /// Throws ``LibcryptoError/Code/algorithmUnavailable`` if the installed libcrypto does not have the algorithm.
    func requireAvailable() throws(LibcryptoError) {
        guard isAvailable else {
            throw LibcryptoError(.algorithmUnavailable, "\(algorithmName) is not in this libcrypto")
        }
    }
}
