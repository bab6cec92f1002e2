import Encodings

/// A short identifier of a signing key, eight bytes long, for records of which there are very many.
///
/// It is the first 64 bits of the key's thumbprint (RFC 7638). Among the few keys of a directory they are unique.
package struct KeyNumber: Hashable, Sendable {
    private let value: UInt64

    /// - Parameter thumbprint: the thumbprint in base64url. Other texts are used as they are.
    package init(thumbprint: String) {
        // Twelve characters encode nine bytes without unused bits.
        let bytes = Base64URL.decode(thumbprint.utf8.prefix(12)) ?? Array(thumbprint.utf8)
        value = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
