/// What came of a refresh token. Callers see one refusal; the difference is for the audit log and the sockets.
package enum RefreshOutcome: Sendable {
    /// A new pair; the token presented is used up.
    case rotated(IssuedTokens, binding: String?)
    /// The pair's refresh token is the one that was given before, still unused; the access token is new.
    case repeated(IssuedTokens, binding: String?)
    case refused(RefreshRefusal)
}

package struct RefreshRefusal: Sendable, Equatable {
    /// For the audit log and `errors.explain` only.
    package let reason: String
    /// The family that ended because a used token came back.
    package let endedFamily: String?
    /// The sessions that ended with it: their sockets have to close.
    package let endedSessions: [String]
}
