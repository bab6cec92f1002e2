import EdgeConfiguration
import Gate
import Runtime
import SecurityGuard

extension Admission {
    /// Everything that can end a socket or stream with this admission; nil for an open route, where nothing can.
    ///
    /// - Parameter now: the time of the admission, in Unix milliseconds.
    package func leaseTerms(_ bounds: LeaseBounds, now: Int64) -> LeaseTerms? {
        guard !isOpen else { return nil }
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
            terms.foreignOrigin = principal.foreign?.origin
            terms.foreignIssuer = principal.foreign?.issuer
            terms.resource = principal.resource
            terms.expiresAt = principal.expiresAt + bounds.clockSkew
        }
        if let allow, allow.readsAccount {
            terms.account = principal?.subject ?? permit?.userID
            terms.allow = allow
        }
        terms.endsAt = bounds.end(from: now)
        return terms
    }
}
