import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import StateSurface

/// `POST /api/auth/refresh`: one refresh token for the next pair.
enum RefreshRoute {
    static let route = APIRoute(.post, "/api/auth/refresh", refresh)

    private static func refresh(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(call.facts.body, allowing: ["refresh_token", "deliver"])
        let wantsBody = try body.wantsBodyDelivery()
        let member = try body.string("refresh_token")
        if let member { try call.requireShape(member, .refreshToken) }
        guard let token = member ?? call.facts.refreshCookie else { throw Problem(.credentialsMissing) }
        try call.services.requireStore()

        let refreshed: RefreshedFamily
        do {
            refreshed = try await RefreshedFamily.refresh(token, clientID: nil, call.services)
        } catch let problem as Problem where problem.code == .invalidGrant {
            if call.facts.refreshCookie?.hasSameBytes(as: token) == true { call.clearRefreshCookie() }
            throw problem
        }
        return try await answer(call, refreshed, of: token, wantsBody: wantsBody, cameByCookie: member == nil)
    }

    private static func answer(
        _ call: APICall, _ refreshed: RefreshedFamily, of presented: String, wantsBody: Bool, cameByCookie: Bool
    ) async throws -> APIAnswer {
        let tokens = refreshed.tokens
        let delivery = SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: cameByCookie)
        var answer = TokenAnswer.members(of: tokens)
        if let next = tokens.refreshToken {
            // Rotation does not make a family live longer: the cookie gets what is left of it.
            let family = try await call.services.securityGuard.family(ofRefreshToken: next)
            let left = (family?.absoluteExpiresAt ?? 0) - call.services.clock()
            if let shown = delivery.hand(refreshToken: next, lifetime: left) {
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

    /// The home session has just been used: its cookie may live as long as it does now.
    private static func renewCookie(_ call: APICall, of home: SessionSnapshot) async throws {
        guard let cookie = call.facts.sessionCookie, let hash = SessionSecret.hash(ofPresented: cookie),
            let session = try await call.services.runtime.current(secretHash: hash), session.id == home.id
        else { return }
        call.setSessionCookie(cookie, maxAge: call.secondsLeft(of: home))
    }
}

/// A family that was refreshed, and the session it is at home in.
package struct RefreshedFamily: Sendable {
    package let tokens: IssuedTokens
    package let home: SessionSnapshot?

    /// Uses a refresh token. A refresh counts as use of the home session; a family without a live home is ended.
    package static func refresh(
        _ token: String, clientID: String?, _ services: APIServices
    ) async throws -> RefreshedFamily {
        let tokens: IssuedTokens
        let binding: String?
        switch try await services.securityGuard.refresh(token, clientID: clientID) {
        case .rotated(let issued, let home), .repeated(let issued, let home): (tokens, binding) = (issued, home)
        case .refused(let refusal):
            services.runtime.noteEnded(refusal.endedSessions, reason: refusal.reason)
            throw Problem(.invalidGrant, reason: refusal.reason)
        }
        var home: SessionSnapshot?
        if let binding {
            home = try await self.home(binding, of: tokens, services)
            guard home != nil else {
                try await SessionEnding(services).endFamily(tokens.familyID)
                throw Problem(.invalidGrant, reason: "home_session_dead")
            }
        }
        return RefreshedFamily(tokens: tokens, home: home)
    }

    /// The session a family is bound to, if it lives and still is at home there; finding it counts as its use.
    private static func home(
        _ sessionID: String, of tokens: IssuedTokens, _ services: APIServices
    ) async throws -> SessionSnapshot? {
        let owner = tokens.principal
        let proof = SessionProof.owner(tenantID: owner.tenantID, userID: owner.subject)
        do {
            let session = try await services.runtime.find(id: sessionID, proof: proof)
            return session.familyID?.hasSameBytes(as: tokens.familyID) == true ? session : nil
        } catch is SessionFault {
            return nil
        }
    }
}
