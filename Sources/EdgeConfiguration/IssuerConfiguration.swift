/// One entry of `issuers`: another issuer whose tokens may be exchanged for the gateway's, or accepted beside
/// them.
public struct IssuerConfiguration: Sendable, Equatable {
    /// Its `iss`, compared byte for byte.
    public var issuer: String
    /// URL of its key set, or a path to a file that holds it; nil to find it by discovery.
    public var jwks: String?
    /// Whether its key set is found by its metadata (OpenID Connect Discovery 1.0, RFC 8414).
    public var discovery = false
    /// Whether its key set may be fetched from private and link-local addresses, and from this machine.
    public var allowPrivate = false
    /// Whether its tokens are accepted on routes and sockets themselves, without an exchange.
    public var atGate = false
    /// The accepted audiences: one of them must be in its tokens' `aud`.
    public var audience: [String]
    /// The tenants that it may issue tokens for: none unless listed.
    public var tenants: [String] = []
    /// The algorithms its keys may use, by their JOSE names; empty for the one that each key names itself.
    public var algorithms: [String] = []
    /// The scopes that its users may get at most.
    public var scopes: [String] = []

    /// An issuer without tenants yet.
    public init(issuer: String, jwks: String?, audience: [String]) {
        self.issuer = issuer
        self.jwks = jwks
        self.audience = audience
    }
}
