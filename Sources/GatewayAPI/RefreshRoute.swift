import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn

/// `POST /api/auth/refresh`: exchanges a refresh token for the next pair of tokens. The token of the body counts before
/// that of the cookie. Using one a second time ends its family (RFC 9700 section 4.14.2).
enum RefreshRoute {
    static let route = APIRoute(
        .post, "/api/auth/refresh",
        APITerms(
            credential: .refreshToken, body: [.deliver, .credential("refresh_token", .refreshToken)], bodyFirst: true,
            store: true), refresh)

    /// - Throws: `invalid_grant`, which clears a cookie with the same token.
    private static func refresh(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let wantsBody = try proven.body.wantsBodyDelivery()
        let cameByCookie = try proven.body.string("refresh_token") == nil
        let token = try proven.refreshToken()
        let refreshed: Refreshed
        do {
            refreshed = try await call.services.signIn.refresh(token)
        } catch let fault as SignInFault {
            if call.facts.refreshCookie?.hasSameBytes(as: token) == true { call.clearRefreshCookie() }
            throw fault
        }
        return try await answer(call, refreshed, of: token, wantsBody: wantsBody, cameByCookie: cameByCookie)
    }

    private static func answer(
        _ call: APICall, _ refreshed: Refreshed, of presented: String, wantsBody: Bool, cameByCookie: Bool
    ) async throws -> APIAnswer {
        let tokens = refreshed.tokens
        let delivery = SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: cameByCookie)
        var answer = TokenAnswer.members(of: tokens)
        if let next = tokens.refreshToken {
            // Rotation does not make a family live longer: the cookie lives for the rest of the family's time.
            let left = refreshed.familyEndsAt - call.services.clock()
            if let shown = delivery.deliver(refreshToken: next, lifetime: left) {
                answer["refresh_token"] = .string(shown)
            }
            // The cookie was used up for a token that goes into the body: sent again, it would count as reuse.
            if wantsBody, call.facts.refreshCookie?.hasSameBytes(as: presented) == true { call.clearRefreshCookie() }
        }
        if let home = refreshed.home {
            answer["session_id"] = .string(home.id)
            try await renewCookie(call, of: home)
        }
        answer["user_id"] = .string(tokens.principal.subject)
        answer["tenant_id"] = .string(tokens.principal.tenantID)
        return .json(answer)
    }

    /// Renews the session cookie: the home session has just been used and lives longer.
    private static func renewCookie(_ call: APICall, of home: SessionSnapshot) async throws {
        guard let cookie = call.facts.sessionCookie, let hash = SessionSecret.hash(ofPresented: cookie),
            let session = try await call.services.runtime.current(secretHash: hash), session.id == home.id
        else { return }
        call.setSessionCookie(cookie, maxAge: call.secondsLeft(of: home))
    }
}
