import HostileTokens
import JOSE
import Libcrypto

/// Makes a signer from a key file. It signs any bytes.
enum AttackSigner {
    /// The largest key file that is read, in bytes.
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
                guard let scheme = algorithm.scheme else {
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
}
