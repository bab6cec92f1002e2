import Encodings
import JOSE
import Libcrypto
import OAuth
import StateSurface

/// Tokens of other issuers that are presented at the gate itself.
extension TokenExchange {
    /// What a token claims that may be accepted at the gate.
    struct GateClaim {
        let issuer: TrustedIssuer
        /// The resource that it is for; nil for all routes with `require: token`.
        let resource: ForeignResource?
    }

    /// The issuer that a token claims and the resource that it claims to be for, if such tokens are accepted at the
    /// gate. Nothing is verified.
    func gateClaim(of token: some Collection<UInt8>) -> GateClaim? {
        guard token.count <= TokenVerifier.maximumBytes, let read = try? UnverifiedToken(token),
            let claims = try? read.unverifiedClaims(), let claimed = claims.issuer,
            let issuer = trusted.all.first(where: { sameBytes($0.issuer.issuer, claimed) })?.issuer
        else { return nil }
        switch resources.purpose(of: claims.audience ?? [], issuer: claimed) {
        case .general: return issuer.atGate ? GateClaim(issuer: issuer, resource: nil) : nil
        case .resource(let resource): return GateClaim(issuer: issuer, resource: resource)
        case .nothing: return nil
        }
    }

    /// The principal of a token, verified by its issuer's keys: the user of ours that issuer and subject map to.
    ///
    /// - Parameter digest: SHA-256 of the token.
    /// - Throws: ``TokenFault``; the store's errors.
    func principal(ofForeign token: [UInt8], digest: [UInt8]) async throws -> Principal {
        let now = clock()
        guard let claim = gateClaim(of: token) else { throw TokenFault.invalid("issuer_unknown") }
        let issuer = claim.issuer
        let (claims, key) = try await claims(ofForeign: token, claim, now: now)
        guard let tenantID = issuer.tenants.first, issuer.tenants.count == 1 else {
            throw TokenFault.invalid("tenant_ambiguous")
        }
        let account: AccountRecord
        do {
            account = try await self.account(issuer: issuer, claims: claims, tenantID: tenantID, now: now)
        } catch let fault as OAuthFault {
            throw TokenFault.invalid(fault.reason)
        }
        guard let subject = claims.subject, let expiresAt = TokenVerifier.milliseconds(claims.expiresAt) else {
            throw TokenFault.invalid("claims_malformed")
        }
        let scope = scope(of: claims, claim, account)
        let signIn = Self.signIn(claims, now: now)
        let client = Self.client(of: claims)
        // The origin names issuer and subject. The id of the family ends with the account's version, so that disabling
        // the account ends the token whatever its `iat`.
        let origin = Base64URL.encode(Digest.sha256(Array((issuer.issuer + "\n" + subject).utf8)))
        return Principal(
            tenantID: account.tenantID, subject: account.userID, clientID: clientID(client, claim), scope: scope,
            tokenID: "ext-" + Base64URL.encode(digest), familyID: "ext-\(origin).\(account.version)",
            issuedAt: min(TokenVerifier.milliseconds(claims.issuedAt) ?? now, now), expiresAt: expiresAt,
            authenticatedAt: signIn?.authenticatedAt, acr: signIn?.acr, keyThumbprint: key.thumbprint,
            foreign: Principal.Foreign(
                origin: origin, issuer: issuer.issuer, client: client,
                trustedUntil: now + min(policy.accessTokenLifetime, ForeignTokens.freshness)),
            resource: claim.resource?.identifier)
    }

    /// The scope of a token: what its issuer may give, and what the account has besides. A token for a resource has
    /// only what the person let the client have there.
    private func scope(of claims: Claims, _ claim: GateClaim, _ account: AccountRecord) -> [String] {
        let granted = claim.issuer.granted(for: claims[ClaimName.scope]?.stringValue.flatMap(Scope.parse) ?? [])
        if let resource = claim.resource { return granted.filter { Scope.contains(resource.scopes, $0) } }
        return granted + account.scope.filter { !Scope.contains(granted, $0) }
    }

    /// The client that a token was issued to, as its issuer calls it (RFC 9068 section 2.2; `azp` of OpenID Connect);
    /// empty if it names none.
    private static func client(of claims: Claims) -> String {
        let name = claims[ClaimName.clientID]?.stringValue ?? claims["azp"]?.stringValue ?? ""
        return NameRule.isClientID(name) ? name : ""
    }

    /// The client's name for upstreams and for `allow`: that of a resource's token. Names of this gateway's own clients
    /// are not taken over; where it grants access to the resource, too, URLs of metadata documents are such names.
    private func clientID(_ client: String, _ claim: GateClaim) -> String {
        guard let resource = claim.resource, !client.isEmpty, !client.utf8.starts(with: Prefix.client.utf8),
            !sameBytes(client, "pat")
        else { return firstPartyClientID }
        let isGrantedHere = Scope.contains(resources.all, resource.identifier)
        return isGrantedHere && client.utf8.starts(with: "https://".utf8) ? firstPartyClientID : client
    }

    private func claims(
        ofForeign token: [UInt8], _ claim: GateClaim, now: Int64
    ) async throws(TokenFault) -> (claims: Claims, key: VerificationKey) {
        do throws(OAuthFault) {
            let verified = try await verified(
                String(decoding: token, as: UTF8.self), for: claim.resource, now: now)
            guard sameBytes(verified.issuer.issuer, claim.issuer.issuer) else { throw Self.untrusted("issuer_unknown") }
            return (verified.claims, verified.key)
        } catch {
            // Expiry is the reason only if everything else was verified.
            let isExpired = error.reason == TokenRefusal.Reason.expired.rawValue
            throw isExpired ? TokenFault(.tokenExpired, reason: "expired") : .invalid(error.reason)
        }
    }
}
