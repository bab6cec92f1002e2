/// One entry of `issuers`: another issuer whose tokens may be exchanged for ours.
public struct IssuerConfiguration: Sendable, Equatable {
    /// Its `iss`, compared byte for byte.
    public var issuer: String
    /// URL of its key set, or a path to a file that holds it.
    public var jwks: String
    /// One of these must be in its tokens' `aud`.
    public var audience: [String]
    /// The tenants it may speak for: none unless listed.
    public var tenants: [String] = []
    /// The algorithms its keys may use, by their JOSE names; empty takes what each key says of itself.
    public var algorithms: [String] = []
    /// What its users are granted at most.
    public var scopes: [String] = []

    /// An issuer with no tenant to speak for yet.
    public init(issuer: String, jwks: String, audience: [String]) {
        self.issuer = issuer
        self.jwks = jwks
        self.audience = audience
    }
}

/// `runtime.*`: where agents run.
public struct RuntimeConfiguration: Sendable, Equatable {
    /// `runtime.url`: `http://…` or `unix:/path` of an external Runtime; nil keeps the embedded one.
    public var url: String?

    /// The embedded Runtime.
    public init() {}
}
