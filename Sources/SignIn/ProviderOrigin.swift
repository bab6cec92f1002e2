import IdentityProviders
import StateSurface

/// Where a sign-in through a provider begins: what its ID token says, and when it was sent to the provider.
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
    /// When the browser was sent to the provider, by the clock of the store, in milliseconds; nil for a token that was
    /// handed in.
    package let begunAt: Int64?

    package init(_ identity: ExternalIdentity, of provider: String, begunAt: Int64? = nil) {
        self.provider = provider
        subject = identity.subject
        session = identity.providerSession
        issuedAt = identity.issuedAt
        authenticatedAt = identity.authenticatedAt
        self.begunAt = begunAt
    }

    /// Whether the provider has ended what the sign-in begins with.
    ///
    /// If it has not, no such end can be remembered until the transaction has ended. The provider's end is remembered
    /// first and looks for families afterwards, so it finds what this transaction writes. Whichever comes first, a sign-in
    /// does not outlive an end of its provider.
    func hasEnded(in transaction: any StoreTransaction, now: Int64) throws -> Bool {
        try ProviderEnd.ends(before: self).contains { try $0.hasEnded(self, in: transaction, now: now) }
    }
}
