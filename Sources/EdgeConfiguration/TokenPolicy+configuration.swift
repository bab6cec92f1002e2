import AuthorizationServer
import JOSE
import SecurityGuard

extension TokenPolicy {
    /// Makes the policy that a configuration asks for.
    ///
    /// - Parameters:
    ///   - bound: the issuer where `tokens.issuer` names none: the origin that was bound; nil for `server.listen`, for
    ///     commands that bind no address.
    ///   - scrypt: the cost of hashing a password.
    /// - Throws: ``GatewayError`` for an algorithm that tokens can't be signed with.
    package init(
        _ configuration: GatewayConfiguration, issuer bound: String? = nil, scrypt: ScryptParameters = .current
    ) throws(GatewayError) {
        let (tokens, accounts) = (configuration.tokens, configuration.accounts)
        guard let algorithm = SignatureAlgorithm(rawValue: tokens.algorithm) else {
            throw GatewayError(.algorithmUnknown, "tokens.algorithm: '\(tokens.algorithm)' is not known here")
        }
        let issuer = tokens.issuer ?? bound ?? "http://\(configuration.server.listen.authority)"
        self.init(
            issuer: issuer, audience: tokens.audience,
            resources: configuration.withRuntimeTools().ownResources(issuer: issuer),
            foreignResources: configuration.foreignResources(issuer: issuer), algorithm: algorithm,
            accessTokenLifetime: tokens.accessTokenLifetime,
            refreshTokenLifetime: tokens.refreshTokenLifetime, clockSkew: tokens.clockSkew,
            defaultScope: accounts.defaultScope, registration: accounts.registration,
            registrationTenants: accounts.registrationTenants, defaultTenant: accounts.defaultTenant ?? "default",
            loginTenant: accounts.defaultTenant, scrypt: scrypt,
            claims: tokens.claims.compactMap { ProfileClaim(rawValue: $0.rawValue) })
    }
}
