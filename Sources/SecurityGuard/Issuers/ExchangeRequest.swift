import StateSurface

/// The form of an RFC 8693 request, as the edge has parsed it.
package struct ExchangeRequest: Sendable {
    package static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
    package static let idTokenType = "urn:ietf:params:oauth:token-type:id_token"
    package static let jwtType = "urn:ietf:params:oauth:token-type:jwt"

    package var subjectToken: String
    package var subjectTokenType: String
    package var requestedTokenType: String?
    package var audience: [String]
    package var scope: String?
    package var tenantID: String?
    /// The client, where one authenticated itself.
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

package struct ExchangedToken: Sendable {
    package let accessToken: String
    package let principal: Principal
    /// Seconds.
    package var expiresIn: Int64 { (principal.expiresAt - principal.issuedAt) / 1000 }
}
