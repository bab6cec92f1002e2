import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn
import TrafficCop

/// The endpoints that create sessions. Every session is created by an intent and its contract; there is no other way.
/// The contract is made by Traffic Cop, which counts the intent against its limits, and is used once.
enum SessionCreationRoutes {
    static let all = [
        // Only where a session is made does the feed have to be alive; the endpoint knows whether one is.
        APIRoute(
            .post, "/api/session/create-anonymous",
            APITerms(body: [.deliver, .object("metadata"), .bool("fresh")]), createAnonymous),
        APIRoute(
            .post, "/api/session/create",
            APITerms(
                credential: .token,
                body: [.deliver, .object("metadata"), .credential("user_id", .subject), .string("tenant_id")],
                identity: true, store: true), create),
    ]

    /// A session for any caller. A caller with the secret of a live session gets that one, unless it asks for a fresh
    /// one.
    private static func createAnonymous(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let wantsBody = try proven.body.wantsBodyDelivery()
        let metadata = try proven.body.objectText("metadata") ?? "{}"
        let fresh = try proven.body.bool("fresh") ?? false
        let secret = try await call.presentedSecret()
        if !fresh, let session = secret.session {
            return .json(try await call.use(session, by: secret).json())
        }
        try call.services.requireStore()
        let issued = try await call.services.signIn.openAnonymous(
            clientAddress: call.facts.clientAddress, metadata: metadata)
        return SessionBody.answer(
            issued, SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: secret.carrier == .cookie))
    }

    /// Creates a session of the token's user.
    private static func create(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let wantsBody = try proven.body.wantsBodyDelivery()
        let metadata = try proven.body.objectText("metadata") ?? "{}"
        let intent = SessionIntent(
            kind: .authenticated, clientAddress: call.facts.clientAddress, tenantID: principal.tenantID,
            userID: principal.subject, metadata: metadata)
        let issued = try await call.services.signIn.open(intent, with: principal)
        let hasCookie = call.facts.sessionCookie != nil
        return SessionBody.answer(issued, SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: hasCookie))
    }
}
