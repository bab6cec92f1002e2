import Answers
import Encodings
import HTTPTypes
import IdentityProviders
import Runtime
import SecurityGuard
import SignIn
import StateSurface

/// `POST /api/auth/logout`: ends the session, its family and its access tokens before it answers.
///
/// Any one proof is enough, also one that has expired or been used: logging out twice is not an error. 204, or 200 with
/// `end_session_url` where `"provider":true` asks for it and the provider of the sign-in has such an address (OpenID
/// Connect RP-Initiated Logout 1.0 §2).
enum LogoutRoute {
    /// As with the end of a session, the store alone says whether it can be written.
    static let route = APIRoute(
        .post, "/api/auth/logout",
        APITerms(
            credential: .tokenForLogout, body: [.bool("provider"), .credential("refresh_token", .refreshToken)],
            bodyFirst: true), logOut)

    private static func logOut(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let asksProvider = try proven.body.bool("provider") ?? false
        let member = try proven.body.string("refresh_token")
        let principal = proven.principal
        let secret = try await call.presentedSecret()
        let provider = asksProvider ? try await self.provider(call, principal, secret, member) : nil
        let done = try await call.services.signIn.logOut(
            LogoutProofs(
                principal: principal, session: secret.session.map { (snapshot: $0, proof: secret.proof) },
                refreshToken: member, deadSecretHash: secret.session == nil ? secret.hash : nil,
                refreshCookie: call.facts.refreshCookie))
        guard done.isProved else {
            if member != nil { throw Problem(.invalidGrant, reason: "refresh_unknown") }
            throw secret.refusal
        }
        clearCookies(call)
        // No ID token is kept, so the provider may ask the person whether to log out.
        guard let url = await provider?.endSessionURL(idToken: nil, redirectURI: nil) else { return .noContent }
        return .json(["end_session_url": .string(url)])
    }

    /// The provider through which the caller signed in, of whichever credential names a family.
    private static func provider(
        _ call: APICall, _ principal: Principal?, _ secret: PresentedSecret, _ refreshToken: String?
    ) async throws -> IdentityProvider? {
        let services = call.services
        var families = [principal?.familyID, secret.session?.familyID].compactMap(\.self)
        if families.isEmpty, let token = refreshToken ?? call.facts.refreshCookie {
            families = try await services.securityGuard.family(ofRefreshToken: token).map { [$0.id] } ?? []
        }
        for family in families {
            if let name = try await services.signIn.provider(ofFamily: family) { return services.providers[name] }
        }
        return nil
    }

    /// Clears the cookies of a browser, and those that the request has sent; any other client gets none.
    private static func clearCookies(_ call: APICall) {
        if call.facts.isBrowser || call.facts.sessionCookie != nil { call.clearSessionCookie() }
        if call.facts.isBrowser || call.facts.refreshCookie != nil { call.clearRefreshCookie() }
    }
}
