/// An authorization request that was judged.
package struct JudgedAuthorization: Sendable, Equatable {
    /// The client.
    package let clientID: String
    /// Where the answer goes.
    package let redirectURI: RedirectURI
    /// What is asked for.
    package let resource: ProtectedResource
    /// The scopes that were asked for; empty for all.
    package let scopes: [String]
    /// The client's `state`.
    package let state: String?
    /// The PKCE challenge, S256.
    package let challenge: String
}
