import JOSE

/// A signer that the target trusts, and that signs any bytes.
public struct TestIssuer: Sendable {
    /// The algorithm that the target expects for the key.
    public let algorithm: SignatureAlgorithm
    /// The `kid` under which the target knows the key; nil for tokens without `kid`.
    public let keyID: String?
    private let makeSignature: @Sendable ([UInt8], SignatureAlgorithm) throws -> [UInt8]

    /// A signer.
    ///
    /// - Parameters:
    ///   - algorithm: the algorithm that the target expects for the key.
    ///   - keyID: the `kid` under which the target knows the key.
    ///   - signature: signs bytes with the key, also under another algorithm that fits the key.
    public init(
        algorithm: SignatureAlgorithm, keyID: String?,
        signature: @escaping @Sendable ([UInt8], SignatureAlgorithm) throws -> [UInt8]
    ) {
        self.algorithm = algorithm
        self.keyID = keyID
        makeSignature = signature
    }

    /// A signer with a key of this library.
    public init(_ key: SigningKey) {
        self.init(algorithm: key.algorithm, keyID: key.keyID) { input, algorithm in
            guard algorithm != key.algorithm else { return try key.signature(over: input) }
            return try SigningKey(pem: key.pkcs8PEM(), algorithm: algorithm).signature(over: input)
        }
    }

    /// The signature in JOSE's encoding.
    ///
    /// - Throws: what the signer throws, for example for an algorithm that does not fit its key.
    func signature(over input: [UInt8], as algorithm: SignatureAlgorithm? = nil) throws -> [UInt8] {
        try makeSignature(input, algorithm ?? self.algorithm)
    }
}

extension TestIssuer: CustomStringConvertible, CustomReflectable {
    /// The algorithm.
    public var description: String { "TestIssuer(\(algorithm.rawValue))" }
    /// Empty, because the closure holds a private key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
