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
        APIRoute(.get, "/api/session/current", APITerms(session: .ofSecret), current),
        APIRoute(
            .get, "/api/session/{id}", APITerms(path: .session, credential: .tokenOrSecret, session: .opened), read),
        APIRoute(.get, "/api/session", APITerms(credential: .token), list),
        APIRoute(
            .patch, "/api/session/{id}/upgrade",
            APITerms(
                path: .session, credential: .tokenOrMember, body: upgradeMembers, bodyFirst: true, identity: true,
                store: true, session: .tried), upgrade),
        // A session can be ended while the feed is silent: the store alone says whether it can be written.
        APIRoute(
            .delete, "/api/session/{id}",
            APITerms(path: .session, credential: .tokenOrSecret, body: [], session: .opened), end),
        APIRoute(
            .post, "/api/session/{id}/ticket",
            APITerms(path: .session, credential: .token, body: [], store: true, session: .owned), ticket),
    ]

    private static let upgradeMembers: [BodyMember] = [
        .deliver, .object("metadata"), .credential("access_token", .accessToken), .credential("user_id", .subject),
        .string("tenant_id"),
    ]

    /// The session of the presented secret. Reading it counts as a use.
    private static func current(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let found = try proven.sessionOfSecret()
        return .json(try await call.use(found.session, by: found.secret).json())
    }

    /// The session of the path, for its owner or for a caller with its secret.
    private static func read(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        .json(try proven.openedSession().session.json())
    }

    /// At most 1,000 live sessions of the token's user.
    private static func list(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let sessions = try await call.services.runtime.liveSessions(
            tenantID: principal.tenantID, userID: principal.subject, limit: 1_000)
        return .json(["sessions": .array(sessions.map { .object($0.json()) })])
    }

    /// Ends the session and what rests on it. An answer of 204 means that its sockets on this node are closed.
    private static func end(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let opened = try proven.openedSession()
        try await call.services.signIn.end(opened.session, proof: opened.proof)
        if opened.byCookie { call.clearSessionCookie() }
        return .noContent
    }

    /// A ticket opens one socket of the session, once; where a page has asked for it, only a page of the same origin.
    private static func ticket(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let permit = try proven.permit()
        // The ticket carries the facts of the token, not the token itself. They are judged again when the ticket is
        // redeemed.
        let ticket = try await call.services.runtime.mintTicket(
            for: permit, tokenFacts: call.services.securityGuard.facts(of: principal), origin: call.facts.origin)
        guard let ticket else { throw Problem(.overloaded, reason: "tickets_full") }
        return .json(["ticket": .string(ticket), "expires_in": .integer(Int64(Runtime.ticketLifetimeSeconds))])
    }

    // MARK: Upgrade

    /// Gives an anonymous session to the token's user. Its owner may repeat the request, for a new secret.
    private static func upgrade(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let wantsBody = try proven.body.wantsBodyDelivery()
        let metadata = try proven.body.objectText("metadata") ?? "{}"
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
        return SessionBody.answer(
            issued, SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: secret.carrier == .cookie))
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
