import Encodings
import Libcrypto

/// The signature algorithms under their `alg` names (RFC 7518 section 3.1, RFC 8812, RFC 9864). The list is closed:
/// there is no `none`, and none can be added at run time.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// ECDSA with secp256k1 and SHA-256 (RFC 8812); used only where it is named explicitly.
    case es256k = "ES256K"
    case ed25519 = "Ed25519"
    /// The name of `Ed25519` before RFC 9864, for verifiers that know no other. It is not used for Ed448 keys.
    case eddsa = "EdDSA"
    case ed448 = "Ed448"
    /// HMAC with SHA-256; the key is a shared secret.
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    /// ML-DSA (FIPS 204); needs libcrypto 3.5.
    case mldsa44 = "ML-DSA-44"
    case mldsa65 = "ML-DSA-65"
    case mldsa87 = "ML-DSA-87"

    /// The algorithm with exactly this `alg`, compared byte for byte; nil if there is none.
    public init?(name: String) {
        // `RawRepresentable` compares strings by canonical equivalence, so the bytes are compared as well.
        guard let known = Self(rawValue: name), known.rawValue.hasSameBytes(as: name) else { return nil }
        self = known
    }

    /// Whether signer and verifier use the same secret.
    public var isSymmetric: Bool {
        hmacDigest != nil
    }

    /// Whether the installed libcrypto has the algorithm. ML-DSA needs 3.5; all others are always there.
    public var isAvailable: Bool {
        switch self {
        case .mldsa44: KeyKind.mldsa(.mldsa44).isAvailable
        case .mldsa65: KeyKind.mldsa(.mldsa65).isAvailable
        case .mldsa87: KeyKind.mldsa(.mldsa87).isAvailable
        default: true
        }
    }

    /// Whether it is accepted where no algorithm is named: all but ``es256k``.
    public var isOnByDefault: Bool {
        self != .es256k
    }

    /// The digest of an HMAC algorithm; nil for all others.
    var hmacDigest: DigestAlgorithm? {
        switch self {
        case .hs256: .sha256
        case .hs384: .sha384
        case .hs512: .sha512
        default: nil
        }
    }

    /// The scheme of libcrypto; nil for the HMAC algorithms.
    package var scheme: SignatureScheme? {
        switch self {
        case .rs256: .rsaPKCS1(.sha256)
        case .rs384: .rsaPKCS1(.sha384)
        case .rs512: .rsaPKCS1(.sha512)
        case .ps256: .rsaPSS(.sha256)
        case .ps384: .rsaPSS(.sha384)
        case .ps512: .rsaPSS(.sha512)
        case .es256: .ecdsa(.p256, .sha256)
        case .es384: .ecdsa(.p384, .sha384)
        case .es512: .ecdsa(.p521, .sha512)
        case .es256k: .ecdsa(.secp256k1, .sha256)
        case .ed25519, .eddsa, .ed448, .mldsa44, .mldsa65, .mldsa87: .pure
        case .hs256, .hs384, .hs512: nil
        }
    }

    /// The kind of key to generate; nil for the HMAC algorithms.
    var keyKind: KeyKind? {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa(bits: 2048)
        case .es256: .ec(.p256)
        case .es384: .ec(.p384)
        case .es512: .ec(.p521)
        case .es256k: .ec(.secp256k1)
        case .ed25519, .eddsa: .ed25519
        case .ed448: .ed448
        case .mldsa44: .mldsa(.mldsa44)
        case .mldsa65: .mldsa(.mldsa65)
        case .mldsa87: .mldsa(.mldsa87)
        case .hs256, .hs384, .hs512: nil
        }
    }

    /// Whether an asymmetric key of this kind can be used with it.
    func fits(_ kind: KeyKind) -> Bool {
        switch (keyKind, kind) {
        case (.rsa, .rsa): true
        case (let wanted?, _): wanted == kind
        case (nil, _): false
        }
    }
}
