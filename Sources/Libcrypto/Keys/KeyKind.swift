import CLibcrypto

/// The elliptic curves in use.
package enum Curve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"
    case secp256k1

    /// The length of one coordinate, of the private number and of each half of a signature, in bytes.
    package var coordinateByteCount: Int {
        switch self {
        case .p256, .secp256k1: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// The name libcrypto knows the curve by.
    var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        case .secp256k1: "secp256k1"
        }
    }
}

/// The parameter sets of ML-DSA (FIPS 204), by the name that libcrypto and JOSE share.
package enum MLDSAParameters: String, Sendable, CaseIterable {
    case mldsa44 = "ML-DSA-44"
    case mldsa65 = "ML-DSA-65"
    case mldsa87 = "ML-DSA-87"
}

/// What a key is.
package enum KeyKind: Sendable, Equatable {
    case rsa(bits: Int)
    case ec(Curve)
    case ed25519
    case ed448
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

    /// Whether the installed libcrypto has the algorithm: ML-DSA came with 3.5.
    package var isAvailable: Bool {
        guard case .mldsa = self else { return true }
        guard let implementation = EVP_SIGNATURE_fetch(nil, algorithmName, nil) else {
            ERR_clear_error()
            return false
        }
        EVP_SIGNATURE_free(implementation)
        return true
    }

    /// Throws a clear error if the installed libcrypto does not have the algorithm.
    func requireAvailable() throws(LibcryptoError) {
        guard isAvailable else {
            throw LibcryptoError(.algorithmUnavailable, "\(algorithmName) is not in this libcrypto")
        }
    }
}
