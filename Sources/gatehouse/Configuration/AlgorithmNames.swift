import JOSE

/// Which algorithms the configuration may name.
enum AlgorithmNames {
    /// What access tokens may be signed with: what others can verify with our public keys.
    static let signing = ValueFormat<String>.name(
        "an algorithm",
        of: SignatureAlgorithm.allCases.filter { !$0.isSymmetric && $0.isOnByDefault && $0.isAvailable }.map(\.rawValue)
    )

    /// What another issuer may sign with.
    static let verifying = ValueFormat<String>.name("an algorithm", of: SignatureAlgorithm.allCases.map(\.rawValue))
}
