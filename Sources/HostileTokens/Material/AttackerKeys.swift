import JOSE
import Synchronization

/// One key of the attacker's for each algorithm, made once: making RSA keys takes time.
enum AttackerKeys {
    private static let made = Mutex<[SignatureAlgorithm: String]>([:])

    /// The key of the algorithm under a name; under its thumbprint for nil.
    static func key(_ algorithm: SignatureAlgorithm, keyID: String?) throws(JOSEError) -> SigningKey {
        if let pem = made.withLock({ $0[algorithm] }) {
            return try SigningKey(pem: pem, algorithm: algorithm, keyID: keyID)
        }
        let pem = try SigningKey.generate(algorithm).pkcs8PEM()
        made.withLock { $0[algorithm] = pem }
        return try SigningKey(pem: pem, algorithm: algorithm, keyID: keyID)
    }
}
