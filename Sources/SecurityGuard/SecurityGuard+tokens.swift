import Encodings
import JOSE
import StateSurface

// MARK: The data plane: synchronous, and safe on any thread
extension SecurityGuard {
    /// Verifies an access token of the gateway's own audience completely, including revocation. Used for tokens that
    /// are not in a ``VerifiedTokenCache``. The token of a resource is refused.
    package func judge(token: some Collection<UInt8>) -> Result<Principal, TokenFault> {
        judge(token: token, now: clock()).flatMap { Self.require($0, resource: nil) }
    }

    /// The principal, if its token is for this resource; nil stands for the gateway's own audience.
    static func require(_ principal: Principal, resource: String?) -> Result<Principal, TokenFault> {
        principal.isFor(resource: resource) ? .success(principal) : .failure(.invalid("audience_mismatch"))
    }

    /// Verifies an access token completely at a given time, in Unix milliseconds. It may be for any resource: the
    /// caller has to check that.
    func judge(token: some Collection<UInt8>, now: Int64) -> Result<Principal, TokenFault> {
        switch verifier.judge(token, now: now) {
        case .good(let principal):
            isRevoked(principal) ? .failure(.invalid("revoked")) : .success(principal)
        case .expired(let principal):
            .failure(isRevoked(principal) ? .invalid("revoked") : TokenFault(.tokenExpired, reason: "expired"))
        case .refused(let fault):
            .failure(fault)
        }
    }

    /// Whether the principal's token is revoked.
    package func isRevoked(_ principal: Principal) -> Bool { revocations.contains(principal) }

    /// Whether a token with these claims is revoked. `issuedAt` is its `iat` in milliseconds.
    package func isRevoked(tokenID: String?, familyID: String?, subject: String?, issuedAt: Int64) -> Bool {
        revocations.contains(tokenID: tokenID, familyID: familyID, subject: subject, issuedAt: issuedAt)
    }

    /// Whether tokens of this issuer are accepted for this resource, as the configuration is now. Without an issuer the
    /// tokens are the gateway's own; without a resource they are for everything that is not a resource.
    package func acceptsTokens(of issuer: String?, for resource: String?) -> Bool {
        if let issuer { return foreignTokens.accepts(issuer: issuer, for: resource) }
        guard let resource else { return true }
        return resources.accepts(issuer: nil, for: resource)
    }

    /// A counter that increases with every revocation. While it is unchanged, earlier checks for revocation are still
    /// valid.
    package var revocationCount: UInt64 { revocations.generation }

    /// The time since the feed was interrupted, if revocations may have been missed since; otherwise zero.
    package var sinceRevocationGap: Duration { feed.sinceGap }

    /// The principal of a token that may be expired or revoked. It may be used only for logging out.
    package func proofForLogout(token: some Collection<UInt8>) -> Principal? {
        switch verifier.judge(token, now: clock()) {
        case .good(let principal) where principal.resource == nil,
            .expired(let principal) where principal.resource == nil:
            principal
        case .good, .expired, .refused: nil
        }
    }

    /// Signs a JWT, valid for at most a minute, which proves to an upstream that the request came through this gateway.
    package func signAssertion(_ identity: AssertedIdentity, audience: String) throws -> String {
        try assertions.sign(identity, audience: audience, now: clock())
    }
}

// MARK: Revoking
extension SecurityGuard {
    /// The revocation of one access token, to be written to the store and then passed to ``report(_:of:)``.
    package func revocation(of principal: Principal) -> Revocation {
        Revocation(
            kind: .token, id: principal.tokenID, expiresAt: principal.expiresAt + reach.reach.clockSkew + 60_000)
    }

    /// Adds a token's revocation to memory and records it in the audit log, after it is durable.
    package func report(_ revocation: Revocation, of principal: Principal) {
        revocations.insert(revocation)
        audit(
            AuditEvent(
                .tokenRevoked, tenantID: principal.tenantID, subject: principal.subject,
                clientID: principal.clientID, familyID: principal.familyID))
    }
}
