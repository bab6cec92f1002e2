/// One entry of `issuers`: another issuer whose tokens may be exchanged for the gateway's.
public struct IssuerConfiguration: Sendable, Equatable {
    /// Its `iss`, compared byte for byte.
    public var issuer: String
    /// URL of its key set, or a path to a file that holds it.
    public var jwks: String
    /// The accepted audiences: one of them must be in its tokens' `aud`.
    public var audience: [String]
    /// The tenants that it may issue tokens for: none unless listed.
    public var tenants: [String] = []
    /// The algorithms its keys may use, by their JOSE names; empty for the one that each key names itself.
    public var algorithms: [String] = []
    /// The scopes that its users may get at most.
    public var scopes: [String] = []

    /// An issuer without tenants yet.
    public init(issuer: String, jwks: String, audience: [String]) {
        self.issuer = issuer
        self.jwks = jwks
        self.audience = audience
    }
}

/// `runtime.*`: where agents run.
public struct RuntimeConfiguration: Sendable, Equatable {
    /// `runtime.url`: `http://…` or `unix:/path` of an external Runtime; nil for the embedded one.
    public var url: String?

    /// The embedded Runtime.
    public init() {}
}
