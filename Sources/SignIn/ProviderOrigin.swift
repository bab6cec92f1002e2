import IdentityProviders

/// Where a sign-in through a provider begins, as its ID token says.
package struct ProviderOrigin: Sendable, Equatable {
    /// The name of the provider.
    package let provider: String
    /// `sub`, the provider's id of the person.
    package let subject: String
    /// The provider's own session; nil where the token names none.
    package let session: String?
    /// `iat` and `auth_time`, in milliseconds; nil where there is none.
    package let issuedAt: Int64?
    package let authenticatedAt: Int64?

    package init(_ identity: ExternalIdentity, of provider: String) {
        self.provider = provider
        subject = identity.subject
        session = identity.providerSession
        issuedAt = identity.issuedAt
        authenticatedAt = identity.authenticatedAt
    }
}
