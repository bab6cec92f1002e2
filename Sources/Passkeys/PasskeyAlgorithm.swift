import JOSE
import Libcrypto

/// The signature algorithms of passkeys, by their COSE numbers (RFC 9053, RFC 8812).
package enum PasskeyAlgorithm: Int64, Sendable, CaseIterable {
    /// Ed25519. Preferred, so first.
    case eddsa = -8
    /// ECDSA on P-256 with SHA-256; nearly every authenticator has it.
    case es256 = -7
    /// RSASSA-PKCS1-v1_5 with SHA-256, for Windows Hello.
    case rs256 = -257

    /// The scheme by which libcrypto verifies.
    var scheme: SignatureScheme {
        switch self {
        case .eddsa: .pure
        case .es256: .ecdsa(.p256, .sha256)
        case .rs256: .rsaPKCS1(.sha256)
        }
    }

    /// Whether a key is for it. `pure` alone would take Ed448 too.
    func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.eddsa, .ed25519), (.es256, .ec(.p256)), (.rs256, .rsa): true
        default: false
        }
    }
}

/// A public key of a passkey, read and found sound.
struct PasskeyKey: Sendable {
    /// The longest SubjectPublicKeyInfo, in bytes: of an RSA key with 8192 bits.
    static let maximumBytes = 2048

    private let verifier: SignatureVerifier

    /// Reads a DER SubjectPublicKeyInfo, in the one spelling that DER has, of a key that fits the algorithm.
    init(_ subjectPublicKeyInfo: [UInt8], _ algorithm: PasskeyAlgorithm) throws(PasskeyRefusal) {
        guard (1...Self.maximumBytes).contains(subjectPublicKeyInfo.count) else { throw .publicKeyMalformed }
        do throws(LibcryptoError) {
            guard case .public(let key) = try KeyDecoder.decode(der: subjectPublicKeyInfo),
                try key.der() == subjectPublicKeyInfo
            else { throw LibcryptoError(.unreadableKey, "not a SubjectPublicKeyInfo") }
            guard algorithm.fits(key.kind) else {
                throw LibcryptoError(.unsupportedKey, "a key of another algorithm")
            }
            verifier = try SignatureVerifier(key, algorithm.scheme)
        } catch {
            throw error.code == .unsupportedKey ? .algorithmMismatch : .publicKeyMalformed
        }
    }

    /// Whether a signature in WebAuthn's encoding (WebAuthn Level 3 §6.5.5) is the key's over bytes.
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        verifier.isValid(derSignature: signature, for: message)
    }
}
