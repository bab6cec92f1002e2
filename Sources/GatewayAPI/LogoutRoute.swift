import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import StateSurface

/// `POST /api/auth/logout`: the session, its family and its access tokens end, before the answer.
///
/// Any one proof is enough, also of something that has ended before: whoever logs out wants to be out.
enum LogoutRoute {
    static let route = APIRoute(.post, "/api/auth/logout", logOut)

    private static func logOut(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(call.facts.body, allowing: ["refresh_token"])
        let member = try body.string("refresh_token")
        if let member { try call.requireShape(member, .refreshToken) }
        let principal = try judgeToken(call)
        let secret = try await call.presentedSecret()

        var proved = false
        if let principal {
            try await SessionEnding(call.services).logOut(principal)
            proved = true
        }
        if secret.carrier != nil { proved = try await endSession(call, secret) || proved }
        // The refresh cookie alone is proof enough, but an explicit token in the body comes first.
        if let token = member ?? (proved ? nil : call.facts.refreshCookie) {
            proved = try await endFamily(call, ofRefreshToken: token) || proved
            if !proved, member != nil { throw Problem(.invalidGrant, reason: "refresh_unknown") }
        }
        guard proved else { throw Problem(secret.counts ? .sessionMismatch : .credentialsMissing) }
        clearCookies(call)
        return .noContent
    }

    /// An access token whose signature and everything else is good proves a logout, also past its `exp`.
    private static func judgeToken(_ call: APICall) throws(Problem) -> Principal? {
        guard let token = call.bearerToken else { return nil }
        try call.requireShape(token, .accessToken)
        guard let principal = call.services.securityGuard.proofForLogout(token: Array(token.utf8)) else {
            throw Problem(.invalidToken, reason: "no_logout_proof")
        }
        return principal
    }

    private static func endSession(_ call: APICall, _ secret: PresentedSecret) async throws -> Bool {
        if let session = secret.session {
            try await SessionEnding(call.services).logOut(session, proof: secret.proof)
            return true
        }
        // The last secret of a session that has ended is proof of having been there.
        return try await call.fault(ofUnusable: secret).code != .mismatch
    }

    private static func endFamily(_ call: APICall, ofRefreshToken token: String) async throws -> Bool {
        guard let family = try await call.services.securityGuard.family(ofRefreshToken: token) else { return false }
        try await SessionEnding(call.services).logOut(ofFamily: family.id)
        return true
    }

    private static func clearCookies(_ call: APICall) {
        if call.facts.isBrowser || call.facts.sessionCookie != nil { call.clearSessionCookie() }
        if call.facts.isBrowser || call.facts.refreshCookie != nil { call.clearRefreshCookie() }
    }
}
