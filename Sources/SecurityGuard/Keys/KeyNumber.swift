import Encodings

/// Stands for a signing key where very many things remember which key they rest on: eight bytes instead of a name.
///
/// The first 64 bits of the key's thumbprint (RFC 7638), which is a SHA-256 digest: two of the few keys of a directory do
/// not share them.
package struct KeyNumber: Hashable, Sendable {
    private let value: UInt64

    /// - Parameter thumbprint: as base64url; anything else is taken as the bytes that it is.
    package init(thumbprint: String) {
        // Twelve letters are nine bytes, without a bit left over.
        let bytes = Base64URL.decode(thumbprint.utf8.prefix(12)) ?? Array(thumbprint.utf8)
        value = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
