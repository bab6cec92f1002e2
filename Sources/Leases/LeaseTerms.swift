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

/// What bounds a lease besides its token and its session.
package struct LeaseBounds: Sendable {
    /// How long after `exp` a token still counts, in ms.
    package var clockSkew: Int64
    /// How long a socket or stream may last however often its token is refreshed, in ms.
    package var maxLifetime: Int64

    package init(clockSkew: Int64, maxLifetime: Int64) {
        self.clockSkew = clockSkew
        self.maxLifetime = maxLifetime
    }

    /// The end that nothing can move of what was let in at `now`, in ms since the epoch.
    package func end(from now: Int64) -> Int64 {
        let end = now.addingReportingOverflow(maxLifetime)
        return end.overflow ? .max : end.partialValue
    }
}
