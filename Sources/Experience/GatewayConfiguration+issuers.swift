import EdgeConfiguration
import Foundation
import IdentityProviders
import JOSE
import SecurityGuard

extension GatewayConfiguration {
    /// The trusted issuers. Key sets of other machines are read when they are needed. A key set in a file is read now,
    /// and again with the next configuration.
    ///
    /// - Parameter fetch: reads the others.
    /// - Throws: ``GatewayError`` for a key set that can't be read, or has no URL that can be connected to.
    func trustedIssuers(fetch: @escaping ProviderFetch) throws -> [TrustedIssuer] {
        try issuers.map { entry in
            var trusted = TrustedIssuer(
                issuer: entry.issuer, keys: try entry.keys(fetch: fetch), audiences: entry.audience,
                tenants: entry.tenants)
            let algorithms = entry.algorithms.compactMap(SignatureAlgorithm.init(rawValue:))
            if !algorithms.isEmpty { trusted.algorithms = algorithms }
            trusted.scopes = Dictionary(entry.scopes.map { ($0, [$0]) }, uniquingKeysWith: { first, _ in first })
            trusted.atGate = entry.atGate
            return trusted
        }
    }
}

extension IssuerConfiguration {
    fileprivate func keys(fetch: @escaping ProviderFetch) throws -> TrustedIssuer.Keys {
        let isRemote = jwks.map { $0.hasPrefix("http://") || $0.hasPrefix("https://") } ?? true
        if let jwks, !isRemote {
            guard let data = FileManager.default.contents(atPath: jwks) else {
                throw GatewayError(.keySetUnreadable, "issuers: the key set \(jwks) can't be read")
            }
            return .inline(Array(data))
        }
        let url = jwks.flatMap(EndpointURL.init)
        let isFound = jwks == nil ? discovery && !IssuerKeys.metadata(of: issuer).isEmpty : url != nil
        guard isFound else {
            throw GatewayError(
                .keySetUnreadable,
                "issuers: the key set of \(issuer) has no URL that can be used: give http(s)://name/path in lower case")
        }
        let keys = IssuerKeys(
            issuer: issuer, url: url, addresses: AddressGuard(allowsPrivate: allowPrivate), fetch: fetch)
        return .fetched { try await keys.keySet() }
    }
}
