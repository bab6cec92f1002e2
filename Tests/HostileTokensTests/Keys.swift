import Testing

@testable import JOSE

/// Keys shared by the tests, because generating RSA keys takes time.
enum Keys {
    static let all: [SignatureAlgorithm: SigningKey] = {
        var keys: [SignatureAlgorithm: SigningKey] = [:]
        for algorithm in [SignatureAlgorithm.es256, .es384, .es512, .ed25519, .eddsa, .rs256, .ps256] {
            keys[algorithm] = try? SigningKey.generate(algorithm, keyID: "key-\(algorithm.rawValue)")
        }
        return keys
    }()

    static func key(_ algorithm: SignatureAlgorithm) throws -> SigningKey {
        try #require(all[algorithm])
    }
}
