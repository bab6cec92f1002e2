import Gate
import Runtime
import SecurityGuard

extension Admitted {
    /// What can end a socket or stream that was let in by this.
    package func leaseTerms(_ bounds: LeaseBounds, now: Int64) -> LeaseTerms? {
        guard principal != nil || permit != nil else { return nil }
        var terms = LeaseTerms()
        terms.admittedAt = now
        if let permit {
            terms.sessionID = permit.sessionID
            terms.sessionEpoch = permit.epoch
            terms.sessionEndsAt = permit.absoluteExpiresAt
            terms.isAnonymous = permit.userID == nil
        }
        if let principal {
            terms.tokenID = principal.tokenID
            terms.familyID = principal.familyID
            terms.subject = principal.subject
            terms.tokenIssuedAt = principal.issuedAt
            terms.key = principal.key
            terms.expiresAt = principal.expiresAt + bounds.clockSkew
        }
        terms.endsAt = bounds.end(from: now)
        return terms
    }
}
