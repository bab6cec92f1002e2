import Encodings
import Libcrypto

/// The secret of a client of this gateway: `cls_` followed by base64url of 32 random bytes. Because it is random, a SHA-256 of it can be
/// stored.
enum IssuedClientSecret {
    static func make() -> (text: String, hash: [UInt8]) {
        let text = Prefix.clientSecret + Base64URL.encode(SecureRandom.bytes(32))
        return (text, hash(text))
    }

    static func hash(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}
