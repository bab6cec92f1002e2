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
