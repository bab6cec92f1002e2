import Encodings
import OAuth
import StateSurface

extension SecurityGuard {
    /// The client, if the secret is correct; otherwise nil. Throws only the store's error.
    package func authenticateClient(id: String, secret: String) async throws -> ClientRecord? {
        try await clients.authenticate(id: id, secret: secret)
    }

    /// Issues a token to the client itself (RFC 6749 section 4.4). Without `scope` it gets all of its scope.
    package func clientCredentials(_ client: ClientRecord, scope: String? = nil) async throws -> ExchangedToken {
        var granted = client.scope
        if let scope {
            guard let wanted = Scope.parse(scope), Scope.covers(client.scope, wanted) else {
                throw OAuthFault(.invalidScope, "the scope is malformed or more than the client has")
            }
            granted = wanted
        }
        let request = TokenIssuer.Request(
            tenantID: client.tenantID, subject: client.clientID, clientID: client.clientID, scope: granted,
            familyID: RandomID.make())
        let (text, principal) = try issuer.issue(request, now: clock())
        do {
            try await state.insert(
                family: FamilyRecord(accessTokenOnly: principal), judged: JudgedOwner(clientID: client.clientID))
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw OAuthFault(.invalidClient, "Client authentication failed.", reason: "client_disabled")
        }
        audit(AuditEvent(.clientToken, tenantID: client.tenantID, subject: client.clientID, clientID: client.clientID))
        return ExchangedToken(accessToken: text, principal: principal)
    }

    /// Exchanges a token (RFC 8693). Throws `OAuthFault`, or the store's error.
    package func exchange(_ request: ExchangeRequest) async throws -> ExchangedToken {
        try await exchanges.exchange(request)
    }

    /// The account that a trusted issuer's token speaks of. Throws `OAuthFault`, or the store's error.
    package func identify(subjectToken text: String, tenantID: String?) async throws -> SubjectTokenOwner {
        try await exchanges.identify(text, tenantID: tenantID)
    }

    /// Whether there are trusted issuers, so that tokens of others can be accepted at all.
    package var hasTrustedIssuers: Bool { !exchanges.trusted.all.isEmpty }

    /// The introspection response for `client` (RFC 7662). For an invalid token, and one that the client may not
    /// inspect, it is `{"active": false}`.
    package func introspect(token: String, by client: ClientRecord) async throws -> JSONObject {
        if token.utf8.starts(with: Prefix.refreshToken.utf8) {
            return try await introspectRefresh(token, by: client)
        }
        guard case .success(let principal) = judge(token: token.utf8, now: clock()),
            ClientRights.mayInspect(principal, client)
        else { return Introspection.inactive }
        return Introspection.active(principal, policy: policy)
    }

    private func introspectRefresh(_ text: String, by client: ClientRecord) async throws -> JSONObject {
        guard let token = RefreshToken(text),
            let (family, position) = try await state.family(tokenHash: token.hash), family.isLive,
            position == family.counter, family.absoluteExpiresAt > clock(),
            ClientRights.mayEnd(tokenOf: family.clientID, tenantID: family.tenantID, client)
        else { return Introspection.inactive }
        return Introspection.active(family, policy: policy)
    }

    /// What `client` may revoke with a token that it presents (RFC 7009); nil for an invalid token, and for one that it
    /// may not revoke.
    package func revocable(presented text: String, by client: ClientRecord) async throws -> RevocableToken? {
        if text.utf8.starts(with: Prefix.refreshToken.utf8) {
            guard let family = try await family(ofRefreshToken: text),
                ClientRights.mayEnd(tokenOf: family.clientID, tenantID: family.tenantID, client)
            else { return nil }
            return .family(family.id)
        }
        guard case .success(let principal) = judge(token: text.utf8, now: clock()),
            ClientRights.mayEnd(tokenOf: principal.clientID, tenantID: principal.tenantID, client)
        else { return nil }
        return .accessToken(principal)
    }
}

/// A token that may be revoked.
package enum RevocableToken: Sendable {
    /// A refresh token, with which the family of this id ends.
    case family(String)
    /// An access token, which ends by itself.
    case accessToken(Principal)
}
