import CLibcrypto

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
