import HostileTokens
import JOSE
import Libcrypto

/// Makes a signer of a key file: it signs anything, also what no issuer would.
enum AttackSigner {
    private static let limit = 64 * 1_024

    /// - Parameters:
    ///   - path: a private key that the target trusts.
    ///   - known: the keys the target publishes, for the key's `kid` and algorithm.
    static func issuer(keyFile path: String, known: JWKSet?) throws -> TestIssuer {
        guard let bytes = try FileBytes.read(path, limit: limit) else {
            throw CommandFailure("\(path): no such file: name the key's file", status: .misused)
        }
        do {
            let key = try SigningKey(parsing: bytes)
            let thumbprint = key.verificationKey.thumbprint
            let published = known?.keys.first { $0.thumbprint == thumbprint }
            guard case .private(let privateKey) = try KeyDecoder.decode(der: try key.pkcs8DER()) else {
                throw CommandFailure("\(path): a private key is needed", status: .misused)
            }
            return TestIssuer(
                algorithm: published?.algorithm ?? key.algorithm, keyID: published?.keyID ?? key.keyID
            ) { input, algorithm in
                guard let scheme = scheme(of: algorithm) else {
                    throw JOSEError(.algorithmMismatch, "a private key is not for the HMAC algorithms")
                }
                return try SignatureSigner(privateKey, scheme).sign(input)
            }
        } catch let error as JOSEError {
            throw CommandFailure("\(path): \(error.message): name a key that can sign", status: .misused)
        } catch let error as LibcryptoError {
            throw CommandFailure("\(path): \(error): name a key that can sign", status: .misused)
        }
    }

    private static func scheme(of algorithm: SignatureAlgorithm) -> SignatureScheme? {
        switch algorithm {
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
}
