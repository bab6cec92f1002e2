import JOSE
import StateSurface

/// What the tokens made here say, and what is asked of them when they come back.
package struct TokenPolicy: Sendable {
    package var issuer: String
    package var audience: [String]
    /// The algorithm of keys made on the first run and of `keys rotate`.
    package var algorithm: SignatureAlgorithm
    package var accessTokenLifetime: Int64
    package var refreshTokenLifetime: Int64
    /// At most a minute.
    package var clockSkew: Int64
    /// How long the predecessor of an unused refresh token gets the same successor again.
    package var refreshGrace: Int64
    /// Scopes of accounts that are made without any.
    package var defaultScope: [String]
    /// Whether strangers may register.
    package var registration: Bool
    /// Tenants that strangers may register in by name; without any each gets one of its own.
    package var registrationTenants: [String]
    /// The tenant of accounts that the operator makes without naming one.
    package var defaultTenant: String
    /// The tenant whose account counts where several have an e-mail; nil where none is preferred.
    package var loginTenant: String?
    package var scrypt: ScryptParameters
    /// Threads that may hash passwords at once; 0 picks one less than the cores (at least one).
    package var hashingThreads: Int
    /// Logins that may wait for one of these threads.
    package var hashingQueue: Int

    package init(
        issuer: String, audience: [String] = ["gatehouse"], algorithm: SignatureAlgorithm = .es256,
        accessTokenLifetime: Int64 = 900_000, refreshTokenLifetime: Int64 = 2_592_000_000, clockSkew: Int64 = 30_000,
        refreshGrace: Int64 = 10_000, defaultScope: [String] = [], registration: Bool = false,
        registrationTenants: [String] = [], defaultTenant: String = "default", loginTenant: String? = nil,
        scrypt: ScryptParameters = .current, hashingThreads: Int = 0,
        hashingQueue: Int = 64
    ) {
        self.issuer = issuer
        self.audience = audience
        self.algorithm = algorithm
        self.accessTokenLifetime = accessTokenLifetime
        self.refreshTokenLifetime = refreshTokenLifetime
        self.clockSkew = clockSkew
        self.refreshGrace = refreshGrace
        self.defaultScope = defaultScope
        self.registration = registration
        self.registrationTenants = registrationTenants
        self.defaultTenant = defaultTenant
        self.loginTenant = loginTenant
        self.scrypt = scrypt
        self.hashingThreads = hashingThreads
        self.hashingQueue = hashingQueue
    }

    /// How long after its issue an access token that is made under this policy can still be accepted somewhere.
    /// Other nodes may make longer ones: see ``FleetReach``.
    package var tokenReach: Int64 {
        Self.tokenReach(of: TokenReach(lifetime: accessTokenLifetime, clockSkew: clockSkew))
    }

    /// A minute is added for a token that was being made while its family ended, and for nodes whose clocks differ.
    static func tokenReach(of reach: TokenReach) -> Int64 { reach.lifetime + reach.clockSkew + 60_000 }

    /// What ``accessTokenLifetime`` may be, in milliseconds: a second to 366 days.
    package static let accessTokenLifetimes: ClosedRange<Int64> = 1_000...(366 * 86_400_000)
    /// What ``refreshTokenLifetime`` may be, in milliseconds: a second to 3650 days.
    package static let refreshTokenLifetimes: ClosedRange<Int64> = 1_000...(3_650 * 86_400_000)
    /// What ``clockSkew`` may be, in milliseconds: none to a minute.
    package static let clockSkews: ClosedRange<Int64> = 0...60_000

    /// Throws the first rule that the policy breaks.
    package func check() throws(GuardError) {
        if issuer.utf8.isEmpty { throw GuardError(.policy, "tokens.issuer is empty: set it to the gateway's URL") }
        if audience.isEmpty || audience.contains(where: \.utf8.isEmpty) {
            throw GuardError(.policy, "tokens.audience needs at least one name, and none may be empty")
        }
        if !Self.accessTokenLifetimes.contains(accessTokenLifetime) {
            throw GuardError(.policy, "tokens.access_token_lifetime must lie between 1s and 366d")
        }
        if !Self.refreshTokenLifetimes.contains(refreshTokenLifetime) {
            throw GuardError(.policy, "tokens.refresh_token_lifetime must lie between 1s and 3650d")
        }
        if !Self.clockSkews.contains(clockSkew) {
            throw GuardError(.policy, "tokens.clock_skew must lie between 0s and 60s")
        }
        if !([defaultTenant] + registrationTenants + [loginTenant].compactMap { $0 }).allSatisfy(NameRule.isTenant) {
            throw GuardError(.policy, "a tenant's name may hold letters, digits, '.', '_' and '-' only")
        }
        for scope in defaultScope where !Scope.isScopeToken(scope) {
            throw GuardError(.policy, "accounts.default_scope holds something that is no scope (RFC 6749 §3.3)")
        }
    }
}
