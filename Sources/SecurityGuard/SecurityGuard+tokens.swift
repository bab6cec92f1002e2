import Encodings
import JOSE
import StateSurface

// MARK: The data plane: synchronous, on any thread
extension SecurityGuard {
    /// The whole check of an access token, revocation included. For what a ``VerifiedTokenCache`` does not know.
    package func judge(token: some Collection<UInt8>) -> Result<Principal, TokenFault> {
        judge(token: token, now: clock())
    }

    package func judge(token: some Collection<UInt8>, now: Int64) -> Result<Principal, TokenFault> {
        switch verifier.judge(token, now: now) {
        case .good(let principal):
            isRevoked(principal) ? .failure(.invalid("revoked")) : .success(principal)
        case .expired(let principal):
            .failure(isRevoked(principal) ? .invalid("revoked") : TokenFault(.tokenExpired, reason: "expired"))
        case .refused(let fault):
            .failure(fault)
        }
    }

    package func isRevoked(_ principal: Principal) -> Bool { revocations.contains(principal) }

    /// The same for a caller that remembers a token's names and not its principal. `issuedAt` is its `iat` in milliseconds.
    package func isRevoked(tokenID: String?, familyID: String?, subject: String?, issuedAt: Int64) -> Bool {
        revocations.contains(tokenID: tokenID, familyID: familyID, subject: subject, issuedAt: issuedAt)
    }

    /// Grows with every revocation: a verdict from before need not be looked at again until it moves.
    package var revocationCount: UInt64 { revocations.generation }

    /// How long ago the feed had a gap that has not been made up for: zero when every revocation is known here.
    package var sinceRevocationGap: Duration { feed.sinceGap }

    /// The principal that a token was made for, be it past its end or revoked: enough to log out, and for nothing else.
    package func proofForLogout(token: some Collection<UInt8>) -> Principal? {
        switch verifier.judge(token, now: clock()) {
        case .good(let principal), .expired(let principal): principal
        case .refused: nil
        }
    }

    /// A JWT of at most a minute by which an upstream knows that the request came through this gateway.
    ///
    /// - Parameter owner: whose session it is, for callers that showed no token.
    package func signAssertion(
        audience: String, principal: Principal?, owner: (tenantID: String?, userID: String?) = (nil, nil),
        sessionID: String? = nil
    ) throws -> String {
        try assertions.sign(
            audience: audience, principal: principal, owner: owner, sessionID: sessionID, now: clock())
    }
}

// MARK: Revoking
extension SecurityGuard {
    /// The revocation of one access token, to be written and then told with ``report(_:of:)``.
    package func revocation(of principal: Principal) -> Revocation {
        Revocation(
            kind: .token, id: principal.tokenID, expiresAt: principal.expiresAt + reach.reach.clockSkew + 60_000)
    }

    /// Remembers the revocation of a token, which is durable, and tells the audit log.
    package func report(_ revocation: Revocation, of principal: Principal) {
        revocations.insert(revocation)
        audit(
            AuditEvent(
                .tokenRevoked, tenantID: principal.tenantID, subject: principal.subject,
                clientID: principal.clientID, familyID: principal.familyID))
    }
}
