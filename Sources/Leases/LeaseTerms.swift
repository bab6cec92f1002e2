import SecurityGuard

/// What an open socket or streaming answer was admitted with: everything that can end it.
package struct LeaseTerms: Sendable {
    /// The session it is bound to; nil where only a token was asked for.
    package var sessionID: String?
    /// The session's epoch when it was admitted.
    package var sessionEpoch: Int64 = 0
    /// Whether the session had no owner when it was admitted.
    package var isAnonymous = false
    /// `jti`, `fid` and `sub` of the access token; nil where no token was asked for.
    package var tokenID: String?
    package var familyID: String?
    package var subject: String?
    /// `iat` of the token, in ms.
    package var tokenIssuedAt: Int64 = 0
    /// The key of the newest token that this is known to rest on: the one it was admitted with, or a refreshed one.
    package var key: KeyNumber?
    /// When the token is no longer good, `exp` plus the clock skew, in ms since the epoch; moved by a refresh.
    /// nil for answers that only a revocation ends early.
    package var expiresAt: Int64?
    /// The end that nothing can move, in ms since the epoch.
    package var endsAt = Int64.max
    /// When the session ends however much it is used, in ms since the epoch.
    package var sessionEndsAt = Int64.max
    /// When it was let in, in ms since the epoch: what happened after that may have been missed.
    package var admittedAt: Int64 = 0

    package init() {}

    /// The next moment at which time alone may end it.
    package var due: Int64 { min(expiresAt ?? .max, endsAt, sessionEndsAt) }

    /// Whether a session in this epoch has nothing to do any more with what admitted this.
    package func isOutgrown(by epoch: Int64) -> Bool { (isAnonymous || tokenID == nil) && sessionEpoch < epoch }
}
