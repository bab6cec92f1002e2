import Encodings
import Libcrypto

/// Random ids.
enum RandomID {
    /// A new id: `prefix` followed by base64url of 16 random bytes.
    static func make(_ prefix: String = "") -> String {
        prefix + Base64URL.encode(SecureRandom.bytes(16))
    }
}
