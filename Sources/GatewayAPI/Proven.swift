import Answers
import Encodings
import IdentityProviders
import Runtime
import SecurityGuard

/// What the checks of a request have shown. Only ``APITerms/judge(_:)`` makes one, so that no endpoint runs without them.
///
/// The functions refuse where the terms of the route do not ask for the value: an endpoint whose terms lack something
/// that it uses answers nobody.
package struct Proven: Sendable {
    /// The members of the body. None where the terms do not read it.
    fileprivate(set) var body = SecurityBody.empty
    /// The caller, if a token said who it is.
    fileprivate(set) var principal: Principal?
    fileprivate var provider: IdentityProvider?
    fileprivate var presentedRefreshToken: String?
    fileprivate var ownedSession: Permit?
    fileprivate var opened: OpenedSession?
    fileprivate var bySecret: SessionOfSecret?

    fileprivate init() {}

    /// The caller, from a token that was accepted.
    func caller() throws(Problem) -> Principal {
        guard let principal else { throw Problem(.credentialsMissing) }
        return principal
    }

    /// The identity provider that the path names.
    func identityProvider() throws(Problem) -> IdentityProvider {
        guard let provider else { throw Problem(.notFound, reason: "provider_unknown") }
        return provider
    }

    /// The refresh token, from the body or the cookie. Only its form was judged.
    func refreshToken() throws(Problem) -> String {
        guard let presentedRefreshToken else { throw Problem(.credentialsMissing) }
        return presentedRefreshToken
    }

    /// The permit for the caller's own session.
    func permit() throws(Problem) -> Permit {
        guard let ownedSession else { throw Problem(.sessionMismatch) }
        return ownedSession
    }

    /// The session of the path, and what opened it.
    func openedSession() throws(Problem) -> OpenedSession {
        guard let opened else { throw Problem(.sessionMismatch) }
        return opened
    }

    /// The live session of the secret.
    func sessionOfSecret() throws(Problem) -> SessionOfSecret {
        guard let bySecret else { throw Problem(.sessionMismatch) }
        return bySecret
    }
}

extension APITerms {
    /// Holds a request to these terms. This is the one order of checks of the API.
    ///
    /// - Throws: the refusal of the first check that fails; the store's errors.
    func judge(_ call: APICall) async throws -> Proven {
        var proven = Proven()
        proven.provider = try providerOfPath(call)
        if bodyFirst { proven.body = try readBody(call) }
        let token = try presentedToken(call, proven.body)
        if credential == .refreshToken {
            let member = try proven.body.string("refresh_token")
            proven.presentedRefreshToken = member ?? call.facts.refreshCookie
        }
        try requireCredentials(call, token: token, refreshToken: proven.presentedRefreshToken)
        proven.principal = try judgedToken(call, token)
        if !bodyFirst { proven.body = try readBody(call) }
        if identity { try requireIdentity(of: proven.caller(), in: proven.body) }
        if store { try call.services.requireStore() }
        if credential == .foreignToken, let token {
            proven.principal = try await call.services.securityGuard.foreignTokens.identify(
                Array(token.utf8), resource: nil)
        }
        switch session {
        case .unread, .tried: break
        case .owned:
            proven.ownedSession = try await call.permit(sessionID: call.pathID, for: proven.caller())
        case .ownedInField:
            proven.ownedSession = try await call.permit(sessionID: call.facts.sessionID ?? "", for: proven.caller())
        case .opened: proven.opened = try await call.openNamedSession(by: proven.principal)
        case .ofSecret: proven.bySecret = try await call.openPresentedSession()
        }
        return proven
    }

    /// - Returns: the provider, where the path has to name one.
    private func providerOfPath(_ call: APICall) throws(Problem) -> IdentityProvider? {
        switch path {
        case .plain: return nil
        case .session:
            try CredentialShape.sessionID.require(call.pathID)
            return nil
        case .provider:
            // A reload may have taken it away.
            guard let provider = call.services.providers[call.pathProvider] else {
                throw Problem(.notFound, reason: "provider_unknown")
            }
            return provider
        }
    }

    private func readBody(_ call: APICall) throws(Problem) -> SecurityBody {
        guard let members = self.body else { return .empty }
        let body = try SecurityBody(call.facts.body, knowing: members)
        if let rule { try rule(body, call) }
        return body
    }

    /// The access token, if there is one where the terms look for it.
    private func presentedToken(_ call: APICall, _ body: SecurityBody) throws(Problem) -> String? {
        switch credential {
        case .unread, .refreshToken: return nil
        case .token, .tokenOrSecret, .foreignToken, .tokenForLogout: return call.facts.authorization.bearerToken
        case .tokenOrMember:
            let header = call.facts.authorization.bearerToken
            guard let member = try body.string("access_token") else { return header }
            guard header == nil else {
                throw Problem(
                    .invalidRequest, detail: "The access token is in the header and in the body; send it once.",
                    reason: "two_carriers")
            }
            return member
        }
    }

    /// Refuses a request that lacks a credential, before anything is looked up. A cookie counts here even if it opens
    /// nothing.
    private func requireCredentials(_ call: APICall, token: String?, refreshToken: String?) throws(Problem) {
        let hasSecret = call.facts.sessionSecret != nil || call.facts.sessionCookie != nil
        let saysWho: Bool =
            switch credential {
            case .unread, .tokenForLogout: true
            case .token, .tokenOrMember, .foreignToken: token != nil
            case .tokenOrSecret: token != nil || hasSecret
            case .refreshToken: refreshToken != nil
            }
        let saysWhichSession: Bool =
            switch session {
            case .unread, .owned, .opened: true
            case .ownedInField: call.facts.sessionID != nil
            case .ofSecret, .tried: hasSecret
            }
        guard saysWho, saysWhichSession else { throw Problem(.credentialsMissing) }
    }

    /// The caller; nil without a token, and for one of another issuer, which is identified later.
    private func judgedToken(_ call: APICall, _ token: String?) throws(Problem) -> Principal? {
        guard let token else { return nil }
        try CredentialShape.accessToken.require(token)
        switch credential {
        case .unread, .refreshToken, .foreignToken: return nil
        case .tokenForLogout:
            guard let principal = call.services.securityGuard.proofForLogout(token: Array(token.utf8)) else {
                throw Problem(.invalidToken, reason: "no_logout_proof")
            }
            return principal
        case .token, .tokenOrMember, .tokenOrSecret:
            switch verdict(call, on: token) {
            case .success(let principal): return principal
            case .failure(let fault): throw Problem(fault)
            }
        }
    }

    /// The edge's verdict on the same token, unless it has been revoked since; else that of a full check.
    private func verdict(_ call: APICall, on token: String) -> Result<Principal, TokenFault> {
        let securityGuard = call.services.securityGuard
        if let verdict = call.facts.verdict, call.facts.authorization.bearerToken?.hasSameBytes(as: token) == true {
            guard case .success(let principal) = verdict, securityGuard.isRevoked(principal) else { return verdict }
        }
        return securityGuard.judge(token: Array(token.utf8))
    }

    /// Refuses a body that names another user or tenant than the token. Members that are absent are not compared.
    private func requireIdentity(of principal: Principal, in body: SecurityBody) throws(Problem) {
        let user = try body.string("user_id")
        let tenant = try body.string("tenant_id")
        let isSame =
            (user?.hasSameBytes(as: principal.subject) ?? true)
            && (tenant?.hasSameBytes(as: principal.tenantID) ?? true)
        guard isSame else { throw Problem(.identityMismatch) }
    }
}

extension CredentialShape {
    /// Refuses a value that has the form of another kind of credential, before anything is looked up. The reason is
    /// `wrong_kind` for every kind.
    func require(_ value: String) throws(Problem) {
        guard CredentialShape(value.utf8).isSwapped(from: self) else { return }
        throw Problem(.credentialsSwapped, reason: "wrong_kind")
    }
}
