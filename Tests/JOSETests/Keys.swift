import Testing

@testable import JOSE

/// Keys shared by the tests, because generating RSA keys takes time.
enum Keys {
    static let all: [SignatureAlgorithm: SigningKey] = {
        var keys: [SignatureAlgorithm: SigningKey] = [:]
        for algorithm in SignatureAlgorithm.allCases where algorithm.isAvailable {
            keys[algorithm] = try? SigningKey.generate(algorithm)
        }
        return keys
    }()

    static func key(_ algorithm: SignatureAlgorithm) throws -> SigningKey {
        try #require(all[algorithm])
    }
}
