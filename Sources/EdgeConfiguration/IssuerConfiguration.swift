/// One entry of `issuers`: another issuer whose tokens may be exchanged for ours.
package struct IssuerConfiguration: Sendable, Equatable {
    /// Its `iss`, compared byte for byte.
    package var issuer: String
    /// URL of its key set, or a path to a file that holds it.
    package var jwks: String
    /// One of these must be in its tokens' `aud`.
    package var audience: [String]
    /// The tenants it may speak for: none unless listed.
    package var tenants: [String] = []
    /// The algorithms its keys may use, by their JOSE names; empty takes what each key says of itself.
    package var algorithms: [String] = []
    /// What its users are granted at most.
    package var scopes: [String] = []

    package init(issuer: String, jwks: String, audience: [String]) {
        self.issuer = issuer
        self.jwks = jwks
        self.audience = audience
    }
}

/// `runtime.*`: where agents run.
package struct RuntimeConfiguration: Sendable, Equatable {
    /// `runtime.url`: `http://…` or `unix:/path` of an external Runtime; nil keeps the embedded one.
    package var url: String?

    package init() {}
}
