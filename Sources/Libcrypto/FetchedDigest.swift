import CLibcrypto

/// A digest of libcrypto, fetched once in a process: a fetch takes locks and searches the providers.
///
/// It is `@unchecked Sendable`: an EVP_MD is immutable once fetched, and these are never freed.
struct FetchedDigest: @unchecked Sendable {
    /// For the handshake of WebSockets alone: see ``Digest/handshakeSHA1(_:)``.
    static let sha1 = FetchedDigest("SHA1")
    static let sha256 = FetchedDigest("SHA256")
    static let sha384 = FetchedDigest("SHA384")
    static let sha512 = FetchedDigest("SHA512")

    /// The digest's `EVP_MD`.
    let pointer: OpaquePointer

    private init(_ name: String) {
        guard let pointer = EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("this libcrypto has no \(name)")
        }
        self.pointer = pointer
    }
}
