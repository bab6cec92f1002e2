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
