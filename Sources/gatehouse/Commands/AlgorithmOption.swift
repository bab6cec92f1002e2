import ArgumentParser
import JOSE

/// `--algorithm` of a new key.
struct AlgorithmOption: ParsableArguments {
    @Option(help: "The algorithm of a new key. Default: tokens.algorithm.")
    var algorithm: String?

    /// The algorithm; nil to use that of the configuration.
    var value: SignatureAlgorithm? {
        get throws {
            guard let algorithm else { return nil }
            let name = try AlgorithmNames.signing.checked(algorithm, as: "--algorithm")
            return SignatureAlgorithm(rawValue: name)
        }
    }
}
