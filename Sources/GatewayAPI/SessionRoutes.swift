import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn
import TrafficCop

/// The endpoints for existing sessions: show, list, upgrade and end them, and issue tickets to them.
enum SessionRoutes {
    static let all = [
        APIRoute(.get, "/api/session/current", current),
        APIRoute(.get, "/api/session/{id}", read),
        APIRoute(.get, "/api/session", list),
        APIRoute(.patch, "/api/session/{id}/upgrade", upgrade),
        APIRoute(.delete, "/api/session/{id}", end),
        APIRoute(.post, "/api/session/{id}/ticket", ticket),
    ]

    /// The session of the presented secret. Reading it counts as a use.
    private static func current(_ call: APICall) async throws -> APIAnswer {
        let secret = try await call.presentedSecret()
        guard secret.counts else { throw Problem(.credentialsMissing) }
        guard let session = secret.session else {
            throw Problem(try await call.fault(ofUnusable: secret))
        }
        return .json(try await call.use(session, by: secret).json())
    }

    /// The session of the path, for its owner or for a caller with its secret.
    private static func read(_ call: APICall) async throws -> APIAnswer {
        let opened = try await call.openNamedSession()
        return .json(opened.session.json())
    }

    /// At most 1,000 live sessions of the token's user.
    private static func list(_ call: APICall) async throws -> APIAnswer {
        let principal = try call.principal()
        let sessions = try await call.services.runtime.liveSessions(
            tenantID: principal.tenantID, userID: principal.subject, limit: 1_000)
        return .json(["sessions": .array(sessions.map { .object($0.json()) })])
    }

    /// Ends the session and what rests on it. An answer of 204 means that its sockets on this node are closed.
    private static func end(_ call: APICall) async throws -> APIAnswer {
        _ = try SecurityBody(call.facts.body, allowing: [])
        let opened = try await call.openNamedSession()
        try await call.services.signIn.end(opened.session, proof: opened.proof)
        if opened.byCookie { call.clearSessionCookie() }
        return .noContent
    }

    /// A ticket opens one socket of the session, once; where a page has asked for it, only a page of the same origin.
    private static func ticket(_ call: APICall) async throws -> APIAnswer {
        try call.requireShape(call.pathID, .sessionID)
        guard let token = call.bearerToken else { throw Problem(.credentialsMissing) }
        let principal = try call.judge(token)
        _ = try SecurityBody(call.facts.body, allowing: [])
        try call.services.requireStore()
        let permit = try await call.permit(sessionID: call.pathID, for: principal)
        // The ticket carries the facts of the token, not the token itself. They are judged again when the ticket is
        // redeemed.
        let ticket = try await call.services.runtime.mintTicket(
            for: permit, tokenFacts: call.services.securityGuard.facts(of: principal), origin: call.facts.origin)
        guard let ticket else { throw Problem(.overloaded, reason: "tickets_full") }
        return .json(["ticket": .string(ticket), "expires_in": .integer(Int64(Runtime.ticketLifetimeSeconds))])
    }

    // MARK: Upgrade

    /// Gives an anonymous session to the token's user. Its owner may repeat the request, for a new secret.
    private static func upgrade(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(
            call.facts.body, allowing: ["access_token", "user_id", "tenant_id", "metadata", "deliver"])
        let wantsBody = try body.wantsBodyDelivery()
        let metadata = try body.objectText("metadata") ?? "{}"
        let token = try upgradeToken(call, body)
        try call.requireShape(call.pathID, .sessionID)
        guard let token, call.facts.sessionSecret != nil || call.facts.sessionCookie != nil else {
            throw Problem(.credentialsMissing)
        }
        let principal = try call.judge(token)
        try call.requireIdentity(of: principal, in: body)
        try call.services.requireStore()

        let secret = try await call.secretToTry()
        let issued: IssuedSession
        do {
            issued = try await carryOutUpgrade(call, secret, principal, metadata)
        } catch let fault as SessionFault where fault.code == .mismatch && secret.isDeadCookie {
            // A cookie that is no longer valid counts as none, unless it is the last secret of a session that has
            // ended.
            let isLast = try await call.fault(ofUnusable: secret).code != .mismatch
            throw Problem(isLast ? .sessionMismatch : .credentialsMissing)
        }
        let delivery = SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: secret.carrier == .cookie)
        return .json(SessionBody.json(issued.session, secret: delivery.deliver(issued.secret, of: issued.session)))
    }

    /// The token from the header or the body; two carriers at once are refused.
    private static func upgradeToken(_ call: APICall, _ body: SecurityBody) throws(Problem) -> String? {
        let member = try body.string("access_token")
        if let member { try call.requireShape(member, .accessToken) }
        guard let header = call.bearerToken else { return member }
        guard member == nil else {
            throw Problem(
                .invalidRequest, detail: "The access token is in the header and in the body; send it once.",
                reason: "two_carriers")
        }
        return header
    }

    /// - Throws: `SessionFault` `.mismatch` for an id that is none and for a secret that does not open the session,
    ///   without looking further.
    private static func carryOutUpgrade(
        _ call: APICall, _ secret: PresentedSecret, _ principal: Principal, _ metadata: String
    ) async throws -> IssuedSession {
        guard SessionID.isShaped(call.pathID.utf8), let hash = secret.hash else { throw SessionFault(.mismatch) }
        let intent = SessionIntent(
            kind: .upgrade, clientAddress: call.facts.clientAddress, sessionID: call.pathID,
            tenantID: principal.tenantID, userID: principal.subject, metadata: metadata)
        return try await call.services.signIn.open(intent, secretHash: hash, with: principal)
    }
}
