import Encodings
import JOSE
import OAuth
import StateSurface

/// Exchanges a trusted issuer's JWT for an access token of the gateway (RFC 8693). The new token has neither more scope
/// nor a longer lifetime.
struct TokenExchange: Sendable {
    let trusted: TrustedIssuers
    let resources: ResourceNames
    let state: any AccountStore & FamilyStore
    let policy: TokenPolicy
    let tokens: TokenIssuer
    let clock: @Sendable () -> Int64
    let audit: AuditSink

    /// The types of tokens that say who their subject is, besides tokens without any: plain JWTs and access tokens (RFC
    /// 9068). Logout tokens, assertions, proofs and others of the same issuer do not (RFC 8725 section 3.11).
    private static let types = ["JWT", "at+jwt"]

    /// A security event token says what happened to its subject (RFC 8417), such as a logout. Many have no `typ` of
    /// their own.
    private static let noEvents = ClaimRule { _, claims, _ in
        claims["events"] == nil ? nil : TokenRefusal(.typeMismatch, "a security event")
    }

    func exchange(_ request: ExchangeRequest) async throws -> ExchangedToken {
        do {
            return try await granted(request)
        } catch let fault as OAuthFault {
            audit(AuditEvent(.exchangeRefused, reason: fault.reason, clientID: request.client?.clientID))
            throw fault
        }
    }

    private func granted(_ request: ExchangeRequest) async throws -> ExchangedToken {
        try checkForm(request)
        let now = clock()
        let (issuer, claims, _) = try await verified(request.subjectToken, now: now)
        let tenantID = try tenant(of: request, issuer: issuer)
        let account = try await account(issuer: issuer, claims: claims, tenantID: tenantID, now: now)
        let scope = try scope(of: request, issuer: issuer, claims: claims, account: account)
        guard let end = claims.expiresAt.flatMap({ Int64(exactly: ($0 * 1000).rounded(.down)) }), end > now else {
            throw Self.untrusted("expired")
        }
        let issued = try tokens.issue(
            TokenIssuer.Request(
                tenantID: account.tenantID, subject: account.userID,
                clientID: request.client?.clientID ?? firstPartyClientID, scope: scope,
                familyID: FamilyID.make(accountVersion: account.version), notAfter: end,
                signIn: Self.signIn(claims, now: now), profile: CallerProfile(account)),
            now: now)
        do {
            try await state.insert(
                family: FamilyRecord(accessTokenOnly: issued.principal),
                judged: JudgedOwner(credentialEpoch: account.credentialEpoch, clientID: request.client?.clientID))
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw Self.untrusted("changed_meanwhile")
        }
        audit(
            AuditEvent(
                .exchanged, tenantID: account.tenantID, subject: account.userID,
                clientID: issued.principal.clientID, familyID: issued.principal.familyID))
        return ExchangedToken(accessToken: issued.text, principal: issued.principal)
    }

    /// The account that a subject token speaks of, for signing in with it. Nothing is issued.
    func identify(_ text: String, tenantID: String?) async throws -> SubjectTokenOwner {
        let now = clock()
        let (issuer, claims, _) = try await verified(text, now: now)
        let request = ExchangeRequest(
            subjectToken: text, subjectTokenType: ExchangeRequest.jwtType, tenantID: tenantID, client: nil)
        let tenantID = try tenant(of: request, issuer: issuer)
        let account = try await account(issuer: issuer, claims: claims, tenantID: tenantID, now: now)
        // The moment that the token speaks of, not that in which it is shown.
        let seconds = claims["auth_time"]?.doubleValue ?? claims.issuedAt
        let proved = seconds.flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }
        return SubjectTokenOwner(
            account: account, issuer: issuer.issuer, authenticatedAt: min(now, max(0, proved ?? now)))
    }

    private func checkForm(_ request: ExchangeRequest) throws(OAuthFault) {
        let subjectTypes = [ExchangeRequest.jwtType, ExchangeRequest.accessTokenType, ExchangeRequest.idTokenType]
        guard subjectTypes.contains(where: { sameBytes($0, request.subjectTokenType) }) else {
            throw OAuthFault(.invalidRequest, "subject_token_type must name a JWT")
        }
        let wanted = request.requestedTokenType ?? ExchangeRequest.accessTokenType
        guard sameBytes(wanted, ExchangeRequest.accessTokenType) || sameBytes(wanted, ExchangeRequest.jwtType) else {
            throw OAuthFault(.invalidRequest, "only access tokens are issued")
        }
        for audience in request.audience where !policy.audience.contains(where: { sameBytes($0, audience) }) {
            throw OAuthFault(.invalidTarget, "no tokens are issued for this audience")
        }
    }

    /// The issuer and the claims of a token of another issuer, after its signature and all rules have been checked:
    /// whether it is exchanged, signs in, or is presented at the gate or a resource.
    ///
    /// - Parameter resource: the resource that the token is for; nil for one that is for none, whose audience must be
    ///   one of those that are accepted from its issuer.
    func verified(
        _ text: String, for resource: ForeignResource? = nil, now: Int64
    ) async throws(OAuthFault) -> (issuer: TrustedIssuer, claims: Claims, key: VerificationKey) {
        guard text.utf8.count <= TokenVerifier.maximumBytes else { throw Self.untrusted("too_large") }
        let token: UnverifiedToken
        let claimed: String
        let audience: [String]
        do throws(TokenRefusal) {
            token = try UnverifiedToken(Array(text.utf8))
            let claims = try token.unverifiedClaims()
            claimed = claims.issuer ?? ""
            audience = claims.audience ?? []
        } catch {
            throw Self.untrusted(error.reason.rawValue)
        }
        let purpose: ForeignTokenPurpose = resource.map { .resource($0) } ?? .general
        guard resources.purpose(of: audience, issuer: claimed) == purpose else {
            throw Self.untrusted("token_of_a_resource")
        }
        // The unverified issuer only selects the keys to verify with.
        guard let (issuer, keySet) = trusted.all.first(where: { sameBytes($0.issuer.issuer, claimed) }) else {
            throw Self.untrusted("issuer_unknown")
        }
        let candidates = await keySet.candidates(keyID: token.header.keyID).filter { key in
            issuer.algorithms.contains(key.algorithm) && sameBytes(key.algorithm.rawValue, token.header.algorithm)
        }
        guard let key = candidates.first else { throw Self.untrusted("key_unknown") }
        let rules = ClaimsRules(
            issuer: issuer.issuer, audience: resource.map { [$0.identifier] } ?? issuer.audiences,
            types: token.header.type == nil ? [] : Self.types,
            requiredClaims: [ClaimName.issuer, ClaimName.subject, ClaimName.audience, ClaimName.expiresAt],
            leeway: Double(policy.clockSkew) / 1000, maximumLifetime: nil, additional: [Self.noEvents])
        switch token.verify(with: key, rules: rules, now: Double(now) / 1000) {
        case .success(let verified): return (issuer, verified.claims, key)
        case .failure(let refusal): throw Self.untrusted(refusal.reason.rawValue)
        }
    }

    /// The tenant that was asked for, or else the client's, or else the issuer's only one. It must be one of the
    /// issuer's.
    private func tenant(of request: ExchangeRequest, issuer: TrustedIssuer) throws(OAuthFault) -> String {
        let only = issuer.tenants.count == 1 ? issuer.tenants.first : nil
        guard let tenant = request.tenantID ?? request.client?.tenantID ?? only else {
            throw Self.untrusted(issuer.tenants.isEmpty ? "issuer_without_tenant" : "tenant_ambiguous")
        }
        guard issuer.tenants.contains(where: { sameBytes($0, tenant) }) else { throw Self.untrusted("tenant_foreign") }
        if let client = request.client, !sameBytes(client.tenantID, tenant) { throw Self.untrusted("tenant_foreign") }
        return tenant
    }

    func account(
        issuer: TrustedIssuer, claims: Claims, tenantID: String, now: Int64
    ) async throws -> AccountRecord {
        guard let subject = claims.subject, (1...255).contains(subject.utf8.count),
            subject.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw Self.untrusted("subject_malformed")
        }
        let account = try await state.identity(issuer: issuer.issuer, subject: subject, tenantID: tenantID) {
            // The account gets no e-mail: one that an issuer claims must not be usable for logging in.
            let userID = RandomID.make(Prefix.user)
            return AccountRecord(
                userID: userID, tenantID: tenantID, email: "", emailKey: "external:" + userID, passwordHash: nil,
                scope: [], createdAt: now)
        }
        guard !account.disabled else { throw Self.untrusted("disabled") }
        guard sameBytes(account.tenantID, tenantID) else { throw Self.untrusted("tenant_foreign") }
        return account
    }

    /// How the subject signed in at its issuer, if the token says when; a time in the future counts as now.
    static func signIn(_ claims: Claims, now: Int64) -> SignInFacts? {
        guard let (time, acr) = TokenVerifier.signIn(claims), let time else { return nil }
        return SignInFacts(authenticatedAt: min(time, now), acr: acr)
    }

    private func scope(
        of request: ExchangeRequest, issuer: TrustedIssuer, claims: Claims, account: AccountRecord
    ) throws(OAuthFault) -> [String] {
        let external = claims[ClaimName.scope]?.stringValue.flatMap(Scope.parse) ?? []
        var granted = issuer.granted(for: external)
        for scope in account.scope where !Scope.contains(granted, scope) { granted.append(scope) }
        guard let text = request.scope else { return granted }
        guard let wanted = Scope.parse(text), Scope.covers(granted, wanted) else {
            throw OAuthFault(.invalidScope, "the scope is malformed or more than the subject token allows")
        }
        return wanted
    }

    /// The same refusal for every fault of a subject token.
    static func untrusted(_ reason: String) -> OAuthFault {
        OAuthFault(.invalidGrant, "the subject token is not accepted", reason: reason)
    }
}

/// The account that a trusted issuer's token speaks of.
package struct SubjectTokenOwner: Sendable {
    /// The account, which is not disabled.
    package let account: AccountRecord
    /// The issuer, as the configuration has it.
    package let issuer: String
    /// When the owner proved who they are: `auth_time`, else `iat`; in milliseconds since 1970.
    package let authenticatedAt: Int64
}
