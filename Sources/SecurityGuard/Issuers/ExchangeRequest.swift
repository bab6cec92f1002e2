import StateSurface

/// The parsed form of a token exchange request (RFC 8693 section 2.1).
package struct ExchangeRequest: Sendable {
    /// The type of access tokens.
    package static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
    /// The type of ID tokens.
    package static let idTokenType = "urn:ietf:params:oauth:token-type:id_token"
    /// The type of JWTs.
    package static let jwtType = "urn:ietf:params:oauth:token-type:jwt"

    /// The token to exchange.
    package var subjectToken: String
    /// Its type.
    package var subjectTokenType: String
    /// The type that is asked for.
    package var requestedTokenType: String?
    /// The audiences that are asked for.
    package var audience: [String]
    /// The scope that is asked for.
    package var scope: String?
    /// The tenant that is asked for.
    package var tenantID: String?
    /// The client, if one authenticated.
    package var client: ClientRecord?

    package init(
        subjectToken: String, subjectTokenType: String, requestedTokenType: String? = nil, audience: [String] = [],
        scope: String? = nil, tenantID: String? = nil, client: ClientRecord? = nil
    ) {
        self.subjectToken = subjectToken
        self.subjectTokenType = subjectTokenType
        self.requestedTokenType = requestedTokenType
        self.audience = audience
        self.scope = scope
        self.tenantID = tenantID
        self.client = client
    }
}

/// The result of a token exchange or of client credentials.
package struct ExchangedToken: Sendable {
    /// The access token.
    package let accessToken: String
    /// Its principal.
    package let principal: Principal
    /// The token's lifetime in seconds.
    package var expiresIn: Int64 { (principal.expiresAt - principal.issuedAt) / 1000 }
}
