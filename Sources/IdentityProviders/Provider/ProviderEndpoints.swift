/// Where the endpoints of a provider are: by discovery, or by configuration.
package struct ProviderEndpoints: Sendable {
    /// Where the browser is sent.
    package let authorization: EndpointURL
    /// Where a code is exchanged.
    package let token: EndpointURL
    /// Where the person is described; nil where the ID token is all there is.
    package let userInfo: EndpointURL?
    /// A list of e-mail addresses, where the provider has one.
    package let emails: EndpointURL?
    /// Whether every authorization response has an `iss` (RFC 9207).
    package let announcesResponseIssuer: Bool

    /// Those of a discovery document.
    package init(_ metadata: ProviderMetadata) {
        authorization = metadata.authorizationEndpoint
        token = metadata.tokenEndpoint
        userInfo = metadata.userInfoEndpoint
        emails = nil
        announcesResponseIssuer = metadata.announcesResponseIssuer
    }

    /// Those of the configuration, for `kind: oauth2`; nil if one is missing or is no URL.
    package init?(_ provider: ProviderConfiguration) {
        guard let authorization = provider.authorizationEndpoint.flatMap(EndpointURL.init),
            let token = provider.tokenEndpoint.flatMap(EndpointURL.init),
            let userInfo = provider.userInfoEndpoint.flatMap(EndpointURL.init)
        else { return nil }
        self.authorization = authorization
        self.token = token
        self.userInfo = userInfo
        emails = provider.emailsEndpoint.flatMap(EndpointURL.init)
        announcesResponseIssuer = false
    }
}
