import AuthorizationServer
import JOSE
import SecurityGuard

extension TokenPolicy {
    /// Makes the policy that a configuration asks for.
    ///
    /// - Parameters:
    ///   - bound: the issuer of a gateway that has bound its address; nil for commands that bind none.
    ///   - scrypt: the cost of hashing a password.
    /// - Throws: ``GatewayError`` for an algorithm that tokens can't be signed with.
    package init(
        _ configuration: GatewayConfiguration, issuer bound: String? = nil, scrypt: ScryptParameters = .current
    ) throws(GatewayError) {
        let (tokens, accounts) = (configuration.tokens, configuration.accounts)
        guard let algorithm = SignatureAlgorithm(rawValue: tokens.algorithm) else {
            throw GatewayError(.algorithmUnknown, "tokens.algorithm: '\(tokens.algorithm)' is not known here")
        }
        let issuer = bound ?? configuration.issuer
        self.init(
            issuer: issuer, audience: tokens.audience,
            resources: configuration.withRuntimeTools().ownResources(issuer: issuer),
            foreignResources: configuration.foreignResources(issuer: issuer), algorithm: algorithm,
            accessTokenLifetime: tokens.accessTokenLifetime,
            refreshTokenLifetime: tokens.refreshTokenLifetime, clockSkew: tokens.clockSkew,
            defaultScope: accounts.defaultScope, defaultTenant: accounts.defaultTenant ?? "default",
            loginTenant: accounts.defaultTenant, scrypt: scrypt,
            claims: tokens.claims.compactMap { ProfileClaim(rawValue: $0.rawValue) })
    }
}

extension GatewayConfiguration {
    /// The issuer of tokens: `tokens.issuer`, or else the URL of `server.listen`. With port 0, the issuer is known only
    /// when the address has been bound.
    package var issuer: String { issuer(at: server.listen) }

    /// The same for the address that was bound.
    package func issuer(at bound: ListenAddress) -> String {
        tokens.issuer ?? "\(server.tls == nil ? "http" : "https")://\(bound.authority)"
    }
}
