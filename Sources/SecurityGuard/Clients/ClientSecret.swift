import Encodings
import Libcrypto

/// A client's secret: `cls_` + base64url of 32 random bytes. Random, so a plain SHA-256 of it is enough at rest.
enum ClientSecret {
    static func make() -> (text: String, hash: [UInt8]) {
        let text = Prefix.clientSecret + Base64URL.encode(SecureRandom.bytes(32))
        return (text, hash(text))
    }

    static func hash(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}
