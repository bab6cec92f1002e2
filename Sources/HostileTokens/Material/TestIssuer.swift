import JOSE

/// A signer that the target trusts; it signs any bytes, also such as no honest issuer would.
public struct TestIssuer: Sendable {
    /// The algorithm the target expects of the key.
    public let algorithm: SignatureAlgorithm
    /// The `kid` under which the target knows the key; nil to write none.
    public let keyID: String?
    private let makeSignature: @Sendable ([UInt8], SignatureAlgorithm) throws -> [UInt8]

    /// A signer.
    ///
    /// - Parameters:
    ///   - algorithm: the algorithm the target expects of the key.
    ///   - keyID: the `kid` under which the target knows the key.
    ///   - signature: signs the bytes with the key, also under another algorithm that fits it.
    public init(
        algorithm: SignatureAlgorithm, keyID: String?,
        signature: @escaping @Sendable ([UInt8], SignatureAlgorithm) throws -> [UInt8]
    ) {
        self.algorithm = algorithm
        self.keyID = keyID
        makeSignature = signature
    }

    func signature(over input: [UInt8], as algorithm: SignatureAlgorithm? = nil) throws -> [UInt8] {
        try makeSignature(input, algorithm ?? self.algorithm)
    }
}

extension TestIssuer: CustomStringConvertible, CustomReflectable {
    /// The algorithm and the `kid`.
    public var description: String { "TestIssuer(\(algorithm.rawValue))" }
    /// Nothing: what is captured is a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
