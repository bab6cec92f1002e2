import EdgeConfiguration
import JOSE

/// Checks the key sets of `issuers` that are files, as `serve` does.
enum IssuerFiles {
    /// - Parameter contents: reads a file; nil if it does not exist.
    static func faults(
        of loaded: LoadedConfiguration, contents: (String) throws(ConfigurationFault) -> [UInt8]?
    ) -> [ConfigurationFault] {
        loaded.configuration.issuers.enumerated().compactMap { index, issuer in
            guard let path = issuer.jwks, !path.hasPrefix("http://"), !path.hasPrefix("https://"),
                let message = complaint(
                    about: path, issuer.algorithms.compactMap(SignatureAlgorithm.init(rawValue:)), contents)
            else { return nil }
            return ConfigurationFault(
                place: loaded.place(of: "issuers[\(index)].jwks"), key: "issuers[\(index)].jwks",
                message: "\(path): \(message)")
        }
    }

    /// What is wrong with the key set in the file; nil if it can be used.
    private static func complaint(
        about path: String, _ algorithms: [SignatureAlgorithm],
        _ contents: (String) throws(ConfigurationFault) -> [UInt8]?
    ) -> String? {
        do throws(ConfigurationFault) {
            guard let bytes = try contents(path) else { return "no such file: correct the path, or create it" }
            return keySetComplaint(bytes, algorithms)
        } catch {
            return error.message
        }
    }

    /// What is wrong with the key set; nil if it can be used.
    private static func keySetComplaint(_ bytes: [UInt8], _ algorithms: [SignatureAlgorithm]) -> String? {
        do throws(JOSEError) {
            _ = try JWKSet(parsing: bytes, policy: .local, algorithms: algorithms)
            return nil
        } catch {
            return "expected a key set (RFC 7517 section 5): \(error.message)"
        }
    }
}
