/// When and how the owner of a family proved who they are. It stays the same through refreshes.
package struct SignInFacts: Sendable, Equatable {
    /// When the owner last proved it: the provider's `auth_time` where it says one.
    package var authenticatedAt: Milliseconds
    /// The authentication context class (`acr`), as the provider says it, or `phr` for a passkey; nil for none.
    package var acr: String?
    /// The name of the identity provider; nil for a password, a passkey or a trusted issuer's token.
    package var provider: String?
    /// The provider's own session (`sid`), which a back-channel logout names; nil if it said none.
    package var providerSession: String?

    /// By default a sign-in with a password.
    package init(
        authenticatedAt: Milliseconds, acr: String? = nil, provider: String? = nil, providerSession: String? = nil
    ) {
        self.authenticatedAt = authenticatedAt
        self.acr = acr
        self.provider = provider
        self.providerSession = providerSession
    }
}
