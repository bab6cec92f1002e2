import EdgeConfiguration
import SecurityGuard

/// The terms of a lease: everything that can end the socket or stream.
package struct LeaseTerms: Sendable {
    /// The session it is bound to; nil if only a token was required.
    package var sessionID: String?
    /// The session's epoch when it was admitted.
    package var sessionEpoch: Int64 = 0
    /// Whether the session had no owner when it was admitted.
    package var isAnonymous = false
    /// The `jti` of the access token; nil if no token was required.
    package var tokenID: String?
    /// The `fid` of the access token.
    package var familyID: String?
    /// The `sub` of the access token.
    package var subject: String?
    /// The `iat` of the token, in milliseconds.
    package var tokenIssuedAt: Int64 = 0
    /// The key of the newest known token: the one it was admitted with, or a refreshed one.
    package var key: KeyNumber?
    /// When the token is no longer accepted, in Unix milliseconds: `exp` plus the clock tolerance. A refresh changes
    /// it. Nil for answers that only a revocation ends early.
    package var expiresAt: Int64?
    /// The latest end, in Unix milliseconds.
    package var endsAt = Int64.max
    /// When the session ends regardless of use, in Unix milliseconds.
    package var sessionEndsAt = Int64.max
    /// Issuer and subject of a token of another issuer; nil for the gateway's own tokens.
    package var foreignOrigin: String?
    /// The issuer of such a token.
    package var foreignIssuer: String?
    /// The resource that the token is for; nil for the gateway's own audience.
    package var resource: String?
    /// The account that the admission depends on, besides what ends its tokens; nil if there is none.
    package var account: String?
    /// The lists of `allow` that the account met.
    package var allow: AllowRules?
    /// When it was admitted, in Unix milliseconds. Changes after that may not have been noticed.
    package var admittedAt: Int64 = 0

    /// The terms of a lease that nothing ends.
    package init() {}

    /// The same without what ends a lease by its age or by its session: the end of the session is a revocation only
    /// where it ends the token's family as well.
    package var endedByRevocationAlone: LeaseTerms {
        var terms = self
        terms.sessionID = nil
        terms.expiresAt = nil
        terms.endsAt = .max
        terms.account = nil
        terms.allow = nil
        return terms
    }

    /// The next time at which it may expire.
    package var due: Int64 { min(expiresAt ?? .max, endsAt, sessionEndsAt) }

    /// Whether the lease is invalid in this epoch of its session.
    package func isOutgrown(by epoch: Int64) -> Bool { (isAnonymous || tokenID == nil) && sessionEpoch < epoch }
}
