import JOSE

/// The algorithms that the configuration may name.
enum AlgorithmNames {
    /// The algorithms for signing access tokens: those that others can verify with a public key.
    static let signing = ValueFormat<String>.name(
        "an algorithm",
        of: SignatureAlgorithm.allCases.filter { !$0.isSymmetric && $0.isOnByDefault && $0.isAvailable }.map(\.rawValue)
    )

    /// The algorithms that another issuer may sign with.
    static let verifying = ValueFormat<String>.name("an algorithm", of: SignatureAlgorithm.allCases.map(\.rawValue))
}
