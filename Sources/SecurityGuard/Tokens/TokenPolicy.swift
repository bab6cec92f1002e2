import JOSE
import OAuth
import StateSurface

/// The settings for tokens, refresh families, accounts and password hashing.
package struct TokenPolicy: Sendable {
    /// The `iss` of tokens.
    package var issuer: String
    /// The `aud` of access tokens.
    package var audience: [String]
    /// The resources that tokens can be issued for besides (RFC 8707): each is the only `aud` of its tokens.
    package var resources: [String]
    /// The resources that other issuers' tokens are accepted for.
    package var foreignResources: [ForeignResource]
    /// The algorithm of new signing keys.
    package var algorithm: SignatureAlgorithm
    /// The lifetime of access tokens, in milliseconds.
    package var accessTokenLifetime: Int64
    /// The lifetime of a refresh family, in milliseconds.
    package var refreshTokenLifetime: Int64
    /// The tolerance for other clocks, in milliseconds; at most a minute.
    package var clockSkew: Int64
    /// How long, in milliseconds, a used refresh token gets the same successor again, if that has not been used.
    package var refreshGrace: Int64
    /// The scope of accounts without one of their own.
    package var defaultScope: [String]
    /// The tenant of accounts that the operator creates without naming one.
    package var defaultTenant: String
    /// The tenant whose account is meant if several have an e-mail; nil if none is preferred.
    package var loginTenant: String?
    /// The parameters for hashing passwords.
    package var scrypt: ScryptParameters
    /// What access tokens say of the account.
    package var claims: [ProfileClaim]
    /// The number of threads for password hashing; 0 means one less than the number of cores, but at least one.
    package var hashingThreads: Int
    /// The number of logins that may wait for one of these threads.
    package var hashingQueue: Int

    package init(
        issuer: String, audience: [String] = ["gatehouse"], resources: [String] = [],
        foreignResources: [ForeignResource] = [], algorithm: SignatureAlgorithm = .es256,
        accessTokenLifetime: Int64 = 900_000, refreshTokenLifetime: Int64 = 2_592_000_000, clockSkew: Int64 = 30_000,
        refreshGrace: Int64 = 10_000, defaultScope: [String] = [], defaultTenant: String = "default",
        loginTenant: String? = nil, scrypt: ScryptParameters = .current, claims: [ProfileClaim] = [.email, .groups],
        hashingThreads: Int = 0,
        hashingQueue: Int = 64
    ) {
        self.issuer = issuer
        self.audience = audience
        self.resources = resources
        self.foreignResources = foreignResources
        self.algorithm = algorithm
        self.accessTokenLifetime = accessTokenLifetime
        self.refreshTokenLifetime = refreshTokenLifetime
        self.clockSkew = clockSkew
        self.refreshGrace = refreshGrace
        self.defaultScope = defaultScope
        self.defaultTenant = defaultTenant
        self.loginTenant = loginTenant
        self.scrypt = scrypt
        self.claims = claims
        self.hashingThreads = hashingThreads
        self.hashingQueue = hashingQueue
    }

    /// How long after its issue an access token of this node can be accepted anywhere, in milliseconds. Other nodes may
    /// issue longer ones: see ``FleetReach``.
    package var tokenReach: Int64 {
        Self.tokenReach(of: TokenReach(lifetime: accessTokenLifetime, clockSkew: clockSkew))
    }

    /// The reach in milliseconds, plus a minute for tokens that are issued while their family ends, and for different
    /// clocks.
    static func tokenReach(of reach: TokenReach) -> Int64 { reach.lifetime + reach.clockSkew + 60_000 }

    /// The range of ``accessTokenLifetime`` in milliseconds: a second to 366 days.
    package static let accessTokenLifetimes: ClosedRange<Int64> = 1_000...(366 * 86_400_000)
    /// The range of ``refreshTokenLifetime`` in milliseconds: a second to 3650 days.
    package static let refreshTokenLifetimes: ClosedRange<Int64> = 1_000...(3_650 * 86_400_000)
    /// The range of ``clockSkew`` in milliseconds: up to a minute.
    package static let clockSkews: ClosedRange<Int64> = 0...60_000

    /// Checks the settings, and throws for the first rule that is broken.
    package func check() throws(GuardError) {
        if issuer.utf8.isEmpty { throw GuardError(.policy, "tokens.issuer is empty: set it to the gateway's URL") }
        if audience.isEmpty || audience.contains(where: \.utf8.isEmpty) {
            throw GuardError(.policy, "tokens.audience needs at least one name, and none may be empty")
        }
        // A token of such an audience would pass as first-party, and as the resource's.
        if let both = (resources + foreignResources.map(\.identifier)).first(where: { name in
            audience.contains { sameBytes($0, name) }
        }) {
            throw GuardError(.policy, "tokens.audience holds '\(both)', the identifier of a resource: remove it there")
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
        if !([defaultTenant] + [loginTenant].compactMap { $0 }).allSatisfy(NameRule.isTenant) {
            throw GuardError(.policy, "a tenant's name may hold letters, digits, '.', '_' and '-' only")
        }
        for scope in defaultScope where !Scope.isScopeToken(scope) {
            throw GuardError(.policy, "accounts.default_scope holds something that is no scope (RFC 6749 §3.3)")
        }
    }
}
