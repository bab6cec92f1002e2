import Encodings
import Libcrypto

/// Proof Key for Code Exchange (RFC 7636) with S256, the only method that is accepted.
package enum ProofKey {
    /// Whether the text is a challenge: base64url of a SHA-256.
    package static func isChallenge(_ text: String) -> Bool {
        text.utf8.count == 43 && Base64URL.decode(text.utf8)?.count == 32
    }

    /// Whether the verifier has the form of RFC 7636 section 4.1 and its hash is the challenge.
    package static func verifies(_ verifier: String, challenge: String) -> Bool {
        let bytes = verifier.utf8
        guard (43...128).contains(bytes.count), bytes.allSatisfy(isUnreserved),
            let expected = Base64URL.decode(challenge.utf8)
        else { return false }
        return ConstantTime.equal(Digest.sha256(bytes), expected)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~".utf8.contains(byte)
        }
    }
}
