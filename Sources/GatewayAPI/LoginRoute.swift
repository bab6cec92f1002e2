import Answers
import EdgeConfiguration
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn

/// `POST /api/auth/login`: signs in with a password, and answers with a family of tokens and an authenticated session.
enum LoginRoute {
    static let route = APIRoute(.post, "/api/auth/login", login)

    private static func login(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(
            call.facts.body, allowing: ["email", "password", "tenant_id", "session_id", "deliver"])
        let wantsBody = try body.wantsBodyDelivery()
        let email = try body.required("email")
        let password = try body.required("password")
        let tenantID = try body.string("tenant_id")
        let named = try body.string("session_id")
        if let named { try call.requireShape(named, .sessionID) }
        try call.services.requireStore()

        let signIn = call.services.signIn
        let target = try await target(call, named: named)
        let proved = try await signIn.provePassword(
            email: email, password: password, tenantID: tenantID, clientAddress: call.facts.clientAddress)
        let signedIn = try await signIn.signIn(
            proved, target: target, named: named, clientAddress: call.facts.clientAddress)
        return answer(call, signedIn, wantsBody: wantsBody)
    }

    /// The live session that the presented secret opens; nil when there is none, or when the request names another one.
    private static func target(_ call: APICall, named: String?) async throws -> SignInTarget? {
        let secret = try await call.presentedSecret()
        guard let hash = secret.hash else { return nil }
        return try await call.services.signIn.target(secretHash: hash, current: secret.session, named: named)
    }

    private static func answer(_ call: APICall, _ signedIn: SignedIn, wantsBody: Bool) -> APIAnswer {
        let (tokens, issued) = (signedIn.tokens, signedIn.session)
        let delivery = SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: call.facts.sessionCookie != nil)
        var answer = TokenAnswer.members(of: tokens)
        let lifetime = call.services.configuration.tokens.refreshTokenLifetime
        if let refresh = tokens.refreshToken.flatMap({ delivery.hand(refreshToken: $0, lifetime: lifetime) }) {
            answer["refresh_token"] = .string(refresh)
        }
        answer["session_id"] = .string(issued.session.id)
        if let text = delivery.hand(issued.secret, of: issued.session) { answer["session_secret"] = .string(text) }
        answer["session"] = .string(signedIn.plan.word)
        answer["user_id"] = .string(signedIn.userID)
        answer["tenant_id"] = .string(signedIn.tenantID)
        return .json(answer)
    }
}

/// The members that every answer with tokens has.
package enum TokenAnswer {
    package static func members(of tokens: IssuedTokens) -> JSONObject {
        [
            "access_token": .string(tokens.accessToken),
            "token_type": "Bearer",
            "expires_in": .integer(tokens.expiresIn),
        ]
    }
}
