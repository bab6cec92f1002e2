/// The result of using a refresh token. Clients see the same refusal in all cases; its details are for the audit log
/// and for closing sockets.
package enum RefreshOutcome: Sendable {
    /// A new pair of tokens. The presented token is used up.
    case rotated(IssuedTokens)
    /// The same refresh token that was issued before and not used, with a new access token.
    case repeated(IssuedTokens)
    case refused(RefreshRefusal)
}
