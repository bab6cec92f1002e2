import JOSE
import Synchronization

/// The attacker's keys, one for each algorithm. They are made once, because generating RSA keys takes time.
enum AttackerKeys {
    private static let made = Mutex<[SignatureAlgorithm: String]>([:])

    /// The key for an algorithm under a `kid`; nil for its thumbprint.
    static func key(_ algorithm: SignatureAlgorithm, keyID: String?) throws(JOSEError) -> SigningKey {
        if let pem = made.withLock({ $0[algorithm] }) {
            return try SigningKey(pem: pem, algorithm: algorithm, keyID: keyID)
        }
        let pem = try SigningKey.generate(algorithm).pkcs8PEM()
        made.withLock { $0[algorithm] = pem }
        return try SigningKey(pem: pem, algorithm: algorithm, keyID: keyID)
    }
}
