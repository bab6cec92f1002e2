import Encodings
import HTTPTypes
import OAuth
import SecurityGuard
import SignIn
import StateSurface

/// The endpoints that OAuth libraries know: token (RFC 6749, 8693), introspection (RFC 7662), revocation (RFC 7009).
/// Bodies are form data. Refusals are `OAuthFault`s.
enum OAuthRoutes {
    /// RFC 6749 section 3.2.
    static let tokenPath = "/oauth2/token"
    /// RFC 7662 section 2.
    static let introspectionPath = "/oauth2/introspect"
    /// RFC 7009 section 2.
    static let revocationPath = "/oauth2/revoke"

    static let all = [
        APIRoute(.post, tokenPath, .ofOAuth, token),
        APIRoute(.post, introspectionPath, .ofOAuth, introspect),
        APIRoute(.post, revocationPath, .ofOAuth, revoke),
    ]

    /// `{"active":false}` for a token that is not valid, or that this client may not ask about (RFC 7662 section 2.2).
    private static func introspect(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let form = try FormBody(call.facts.body)
        let client = try await OAuthClient.require(call, form)
        let token = try form.required("token")
        return .json(try await call.services.securityGuard.introspect(token: token, by: client))
    }

    /// Revokes a token. The answer is 200 also for a token that has ended, is unknown, or belongs to another client.
    private static func revoke(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let form = try FormBody(call.facts.body)
        let client = try await OAuthClient.requireAny(call, form)
        let token = try form.required("token")
        try await call.services.signIn.revoke(presented: token, by: client)
        return APIAnswer(contentType: nil)
    }

    // MARK: Tokens

    /// Authenticates the client before it looks at the grant. A request that names no client counts as one of the
    /// gateway's own client. `resource` may repeat (RFC 8707 section 2.2), so each grant says what becomes of it.
    private static func token(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let form = try FormBody(call.facts.body, repeatable: "resource")
        let client = try await OAuthClient.authenticate(call, form)
        switch try form.required("grant_type") {
        case OAuthGrant.authorizationCode: return try await authorizationCode(call, form, client)
        case OAuthGrant.clientCredentials: return try await clientCredentials(call, form, client)
        case OAuthGrant.refreshToken: return try await refresh(call, form, client)
        case OAuthGrant.tokenExchange: return try await exchange(call, form, client)
        default:
            throw OAuthFault(
                .unsupportedGrantType,
                "Supported are authorization_code, client_credentials, refresh_token and the token exchange of RFC 8693."
            )
        }
    }

    /// The first tokens of what a person has granted.
    private static func authorizationCode(
        _ call: APICall, _ form: FormBody, _ client: ClientRecord?
    ) async throws -> APIAnswer {
        guard let client else {
            throw OAuthFault(.invalidClient, "'client_id' is needed.", reason: "client_missing")
        }
        let exchange = CodeExchange(
            code: try form.required("code"), clientID: client.clientID, redirectURI: form["redirect_uri"],
            verifier: form["code_verifier"], resource: try form.single("resource"))
        try call.services.requireStore()
        return answer(try await call.services.agents.redeem(exchange))
    }

    /// A token of the client itself, without a user and without a refresh token (RFC 6749 section 4.4).
    private static func clientCredentials(
        _ call: APICall, _ form: FormBody, _ client: ClientRecord?
    ) async throws -> APIAnswer {
        guard let client else {
            throw OAuthFault(.invalidClient, "Client authentication is needed.", reason: "client_missing")
        }
        guard !client.isPublic else {
            throw OAuthFault(.unauthorizedClient, "A client without a secret gets no tokens of its own.")
        }
        try requireNoResource(form)
        let token = try await call.services.securityGuard.clientCredentials(client, scope: form["scope"])
        return .json(members(of: token))
    }

    /// Refuses `resource` where the token would be no narrower for it (RFC 8707 section 2): the client would take it for
    /// one that only the resource accepts.
    private static func requireNoResource(_ form: FormBody) throws(OAuthFault) {
        guard !form.has("resource") else {
            throw OAuthFault(
                .invalidTarget, "This grant gives no tokens for a resource.", reason: "resource_unsupported")
        }
    }

    /// A family belongs to the client it was opened for. The refresh token of another client is refused as if it were
    /// unknown.
    private static func refresh(
        _ call: APICall, _ form: FormBody, _ client: ClientRecord?
    ) async throws -> APIAnswer {
        let presented = try form.required("refresh_token")
        let services = call.services
        try services.requireStore()
        let refreshed: Refreshed
        do {
            refreshed = try await services.signIn.refresh(
                presented, clientID: client?.clientID ?? firstPartyClientID,
                terms: RefreshTerms(scope: form["scope"], resources: form.all("resource")))
        } catch let fault as SignInFault where fault.code == .invalidGrant {
            throw OAuthFault(.invalidGrant, "The refresh token is not accepted.", reason: fault.reason)
        }
        return answer(refreshed.tokens)
    }

    /// Tokens of a family, with their scope (RFC 6749 section 5.1).
    private static func answer(_ tokens: IssuedTokens) -> APIAnswer {
        var answer = TokenAnswer.members(of: tokens)
        if let next = tokens.refreshToken { answer["refresh_token"] = .string(next) }
        answer["scope"] = .string(Scope.text(tokens.principal.scope))
        return .json(answer)
    }

    /// A token of another issuer, or for another audience, against one of the gateway's own (RFC 8693 section 2). The
    /// answer has no refresh token.
    private static func exchange(
        _ call: APICall, _ form: FormBody, _ client: ClientRecord?
    ) async throws -> APIAnswer {
        guard client?.isPublic != true else {
            throw OAuthFault(.unauthorizedClient, "A client without a secret exchanges no tokens.")
        }
        guard form["actor_token"] == nil, form["actor_token_type"] == nil else {
            throw OAuthFault(.invalidRequest, "Delegation with an actor token is not supported.")
        }
        try call.services.requireStore()
        let request = ExchangeRequest(
            subjectToken: try form.required("subject_token"),
            subjectTokenType: try form.required("subject_token_type"),
            requestedTokenType: form["requested_token_type"],
            audience: [form["audience"], try form.single("resource")].compactMap { $0 }, scope: form["scope"],
            tenantID: form["tenant_id"], client: client)
        var answer = members(of: try await call.services.securityGuard.exchange(request))
        answer["issued_token_type"] = .string(ExchangeRequest.accessTokenType)
        return .json(answer)
    }

    private static func members(of token: ExchangedToken) -> JSONObject {
        [
            "access_token": .string(token.accessToken),
            "token_type": "Bearer",
            "expires_in": .integer(token.expiresIn),
            "scope": .string(Scope.text(token.principal.scope)),
        ]
    }
}

/// The grant types that `/oauth2/token` supports. As `grant_type` names them.
package enum OAuthGrant {
    static let authorizationCode = "authorization_code"
    static let clientCredentials = "client_credentials"
    static let refreshToken = "refresh_token"
    static let tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    /// All of them; codes are issued only where there is a resource.
    package static let all = [authorizationCode, clientCredentials, refreshToken, tokenExchange]
}
