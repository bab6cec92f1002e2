import EdgeConfiguration
import Experience
import JOSE
import SecurityGuard

extension TokenPolicy {
    /// The policy that a configuration asks for. `issuer` is the address that was bound, for a configuration
    /// that names no issuer of its own.
    init(_ configuration: GatewayConfiguration, issuer bound: String? = nil) throws(CommandFailure) {
        let tokens = configuration.tokens
        guard let algorithm = SignatureAlgorithm(rawValue: tokens.algorithm) else {
            throw CommandFailure("tokens.algorithm: \(tokens.algorithm) is not known here", status: .misused)
        }
        self.init(
            issuer: tokens.issuer ?? bound ?? "http://\(configuration.server.listen.authority)",
            audience: tokens.audience,
            algorithm: algorithm, accessTokenLifetime: tokens.accessTokenLifetime,
            refreshTokenLifetime: tokens.refreshTokenLifetime, clockSkew: tokens.clockSkew,
            defaultScope: configuration.accounts.defaultScope, registration: configuration.accounts.registration,
            registrationTenants: configuration.accounts.registrationTenants,
            defaultTenant: configuration.accounts.defaultTenant ?? "default",
            loginTenant: configuration.accounts.defaultTenant)
    }
}
