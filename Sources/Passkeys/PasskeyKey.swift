import JOSE
import Libcrypto

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
