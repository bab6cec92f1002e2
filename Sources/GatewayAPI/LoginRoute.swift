import Answers
import EdgeConfiguration
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn
import StateSurface

/// `POST /api/auth/login`: signs in with a password or with a token of another issuer, and answers with a family of
/// tokens and an authenticated session.
enum LoginRoute {
    /// The body is judged whole before the store or a password hash is asked, so a request that can't be right costs
    /// little.
    static let route = APIRoute(
        .post, "/api/auth/login", APITerms(body: members, rule: requireMethod, store: true), login)

    private static let members: [BodyMember] = [
        .deliver, .credential("subject_token", .accessToken), .string("provider"), .string("email"),
        .string("password"), .string("tenant_id"), .credential("session_id", .sessionID),
    ]

    /// With the secret of a live session in the request, that session is the one signed in to; without one, a new
    /// session begins.
    private static func login(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let body = proven.body
        let wantsBody = try body.wantsBodyDelivery()
        let method = try method(body, call)
        let tenantID = try body.string("tenant_id")
        let named = try body.string("session_id")
        let target = try await target(call, named: named)
        do {
            let proved = try await prove(method, tenantID: tenantID, call)
            let signedIn = try await call.services.signIn.signIn(
                proved, target: target, named: named, clientAddress: call.facts.clientAddress)
            return answer(call, signedIn, wantsBody: wantsBody)
        } catch let fault as AuthError where fault.code == .invalidCredentials {
            throw method.refusal
        }
    }

    private enum Method {
        case password(email: String, String)
        case token(String, provider: String?)

        /// What is answered where it proves nobody: the same for every reason.
        var refusal: Problem {
            switch self {
            case .password: Problem(.invalidCredentials)
            case .token: Problem(.invalidCredentials, detail: "The subject token was not accepted.")
            }
        }
    }

    /// The account that the caller has proved to be theirs.
    private static func prove(_ method: Method, tenantID: String?, _ call: APICall) async throws -> ProvedAccount {
        let signIn = call.services.signIn
        switch method {
        case .password(let email, let password):
            return try await signIn.provePassword(
                email: email, password: password, tenantID: tenantID, clientAddress: call.facts.clientAddress)
        case .token(let text, let provider):
            return try await signIn.prove(
                subjectToken: text, provider: provider, tenantID: tenantID, of: call.services.providers,
                clientAddress: call.facts.clientAddress
            ) { ProviderRoutes.noteGroups(call, $0, $1) }
        }
    }

    /// The members have to say how the caller proves who they are, in one way.
    private static func requireMethod(_ body: SecurityBody, _ call: APICall) throws(Problem) {
        _ = try method(body, call)
    }

    /// How the caller proves who they are, from the members of the body.
    ///
    /// - Throws: `not_found` for a password where passwords are off; `invalid_request` for two ways at once, or for a
    ///   `provider` without a token.
    private static func method(_ body: SecurityBody, _ call: APICall) throws(Problem) -> Method {
        guard let token = try body.string("subject_token") else {
            guard call.services.configuration.accounts.passwords else {
                throw Problem(.notFound, reason: "passwords_off")
            }
            if try body.string("provider") != nil {
                throw Problem(
                    .invalidRequest, detail: "'provider' goes with 'subject_token'.", reason: "member_unexpected")
            }
            return .password(email: try body.required("email"), try body.required("password"))
        }
        guard try body.string("email") == nil, try body.string("password") == nil else {
            throw Problem(
                .invalidRequest, detail: "Give 'email' and 'password', or 'subject_token'.", reason: "two_methods")
        }
        return .token(token, provider: try body.string("provider"))
    }

    /// The live session that the presented secret opens; nil when there is none, or when the request names another one.
    private static func target(_ call: APICall, named: String?) async throws -> SignInTarget? {
        let secret = try await call.presentedSecret()
        guard let hash = secret.hash else { return nil }
        return try await call.services.signIn.target(secretHash: hash, current: secret.session, named: named)
    }

    /// The answer of every way to sign in that is not a navigation. Refresh token and session secret go into cookies or
    /// into the body, as ``SecretDelivery`` decides; everything else is always in the body.
    ///
    /// - Parameter wantsBody: whether the request has `"deliver":"body"`.
    static func answer(_ call: APICall, _ signedIn: SignedIn, wantsBody: Bool) -> APIAnswer {
        let (tokens, issued) = (signedIn.tokens, signedIn.session)
        let delivery = SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: call.facts.sessionCookie != nil)
        var answer = TokenAnswer.members(of: tokens)
        let lifetime = call.services.configuration.tokens.refreshTokenLifetime
        if let refresh = tokens.refreshToken.flatMap({ delivery.deliver(refreshToken: $0, lifetime: lifetime) }) {
            answer["refresh_token"] = .string(refresh)
        }
        answer["session_id"] = .string(issued.session.id)
        if let text = delivery.deliver(issued.secret, of: issued.session) { answer["session_secret"] = .string(text) }
        answer["session"] = .string(signedIn.plan.word)
        answer["user_id"] = .string(signedIn.userID)
        answer["tenant_id"] = .string(signedIn.tenantID)
        return .json(answer)
    }
}

/// The members that every answer with tokens has.
package enum TokenAnswer {
    /// `expires_in` is in seconds (RFC 6749 section 5.1).
    package static func members(of tokens: IssuedTokens) -> JSONObject {
        [
            "access_token": .string(tokens.accessToken),
            "token_type": "Bearer",
            "expires_in": .integer(tokens.expiresIn),
        ]
    }
}
