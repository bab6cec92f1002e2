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

// @unchecked: an EVP_MD is immutable once fetched, and these are never freed.
private struct FetchedDigest: @unchecked Sendable {
    static let sha256 = FetchedDigest("SHA256")
    static let sha384 = FetchedDigest("SHA384")
    static let sha512 = FetchedDigest("SHA512")

    let pointer: OpaquePointer

    private init(_ name: String) {
        guard let pointer = EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("this libcrypto has no \(name)")
        }
        self.pointer = pointer
    }
}
