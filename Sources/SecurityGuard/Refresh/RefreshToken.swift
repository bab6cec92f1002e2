import Encodings
import Libcrypto

/// A refresh token: `ref_` followed by base64url of 32 bytes. Only its hash is stored.
struct RefreshToken: Sendable, CustomStringConvertible, CustomReflectable {
    static let byteCount = 32
    private let bytes: [UInt8]

    static func random() -> RefreshToken { RefreshToken(bytes: SecureRandom.bytes(byteCount)) }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses a token; nil unless it is the canonical encoding of 32 bytes.
    init?(_ text: String) {
        let prefix = Prefix.refreshToken.utf8
        guard text.utf8.count == prefix.count + 43, text.utf8.starts(with: prefix),
            let bytes = Base64URL.decode(text.utf8.dropFirst(prefix.count)), bytes.count == Self.byteCount
        else { return nil }
        self.bytes = bytes
    }

    var text: String { Prefix.refreshToken + Base64URL.encode(bytes) }
    var hash: [UInt8] { Digest.sha256(bytes) }

    /// The next token of the chain. It can be derived again from this token and the salt. The store has only the salt,
    /// from which the token cannot be derived.
    func successor(salt: [UInt8]) -> RefreshToken { RefreshToken(bytes: HMAC.sha256(key: bytes, salt)) }

    var description: String { "ref_…" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
