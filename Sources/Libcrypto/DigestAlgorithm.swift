import CLibcrypto

/// The hash functions in use (FIPS 180-4).
package enum DigestAlgorithm: Sendable, CaseIterable {
    /// SHA-256: 32 bytes.
    case sha256
    /// SHA-384: 48 bytes.
    case sha384
    /// SHA-512: 64 bytes.
    case sha512

    /// The length of a digest in bytes.
    package var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// libcrypto's implementation. It is fetched once in a process, because a fetch takes locks.
    var implementation: OpaquePointer {
        switch self {
        case .sha256: FetchedDigest.sha256.pointer
        case .sha384: FetchedDigest.sha384.pointer
        case .sha512: FetchedDigest.sha512.pointer
        }
    }

    /// The name under which libcrypto fetches it.
    var name: String {
        switch self {
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }
}
