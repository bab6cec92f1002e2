import EdgeConfiguration
import Foundation
import IdentityProviders
import JOSE
import SecurityGuard

extension GatewayConfiguration {
    /// The identity providers at work.
    ///
    /// - Parameters:
    ///   - issuer: `tokens.issuer`, or what stands for it.
    ///   - fetch: sends requests to them.
    /// - Throws: `ConfigurationError` for an entry that can't be used, `GatewayError` for a file that can't be read.
    func makeProviders(
        issuer: String, securityGuard: SecurityGuard, fetch: GuardedFetch, clock: @escaping @Sendable () -> Int64
    ) throws -> ProviderDirectory {
        ProviderDirectory(
            try identityProviders.enumerated().map { index, entry in
                let (provider, faults) = entry.resolved(secret: try entry.readSecret())
                guard let provider else {
                    let fault = faults.first ?? ("name", "an entry that can be used")
                    throw ConfigurationError(
                        .providerRefused, key: "identity_providers[\(index)].\(fault.key)", bounds: fault.sentence)
                }
                return IdentityProvider(
                    provider, issuer: issuer, leeway: Double(tokens.clockSkew) / 1000,
                    clientKey: { securityGuard.keyRing.signingKey }, fetch: fetch.forProviders, clock: clock)
            })
    }
}

extension IdentityProviderConfiguration {
    /// The secret, from the entry or from its file.
    fileprivate func readSecret() throws -> Secret? {
        if let clientSecret { return clientSecret }
        guard let clientSecretFile else { return nil }
        guard let data = FileManager.default.contents(atPath: clientSecretFile) else {
            throw GatewayError(
                .clientSecretUnreadable, "identity_providers: the client secret in \(clientSecretFile) can't be read")
        }
        return Secret(file: Array(data))
    }
}
