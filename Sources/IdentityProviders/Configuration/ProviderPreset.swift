/// Providers whose endpoints are known (`preset`).
package enum ProviderPreset: String, Sendable, CaseIterable {
    /// GitHub's OAuth Apps: no ID token; the person is `GET /user`, the e-mail address that counts is the primary one
    /// of `GET /user/emails`, where GitHub says whether it was verified.
    case github

    /// Fills in what the preset knows. What the configuration says itself is to be set afterwards.
    package func apply(to provider: inout ProviderConfiguration) {
        switch self {
        case .github:
            provider.displayName = "GitHub"
            provider.kind = .oauth2
            // What GitHub calls itself where it says `iss` (RFC 9207).
            provider.issuer = "https://github.com/login/oauth"
            provider.authorizationEndpoint = "https://github.com/login/oauth/authorize"
            provider.tokenEndpoint = "https://github.com/login/oauth/access_token"
            provider.userInfoEndpoint = "https://api.github.com/user"
            provider.emailsEndpoint = "https://api.github.com/user/emails"
            provider.scopes = ["read:user", "user:email"]
            // The number stays with the account; a login name may be given to another one.
            provider.subjectClaim = "id"
        }
    }
}
