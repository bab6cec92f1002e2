import Encodings
import Libcrypto

/// A refresh token: `ref_` + base64url of 32 bytes. The store knows its hash only.
struct RefreshToken: Sendable, CustomStringConvertible, CustomReflectable {
    static let byteCount = 32
    private let bytes: [UInt8]

    static func random() -> RefreshToken { RefreshToken(bytes: SecureRandom.bytes(byteCount)) }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// nil for any text but the one way to write 32 bytes.
    init?(_ text: String) {
        let prefix = Prefix.refreshToken.utf8
        guard text.utf8.count == prefix.count + 43, text.utf8.starts(with: prefix),
            let bytes = Base64URL.decode(text.utf8.dropFirst(prefix.count)), bytes.count == Self.byteCount
        else { return nil }
        self.bytes = bytes
    }

    var text: String { Prefix.refreshToken + Base64URL.encode(bytes) }
    var hash: [UInt8] { Digest.sha256(bytes) }

    /// The next token of the chain. The holder of this token and the salt derives the same one again; the salt alone,
    /// which is all that the store has, leads nowhere.
    func successor(salt: [UInt8]) -> RefreshToken { RefreshToken(bytes: HMAC.sha256(key: bytes, salt)) }

    var description: String { "ref_…" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
