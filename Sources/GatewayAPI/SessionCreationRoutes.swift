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
        APIRoute(.post, "/api/session/create-anonymous", createAnonymous),
        APIRoute(.post, "/api/session/create", create),
    ]

    /// A session for any caller. A caller with the secret of a live session gets that one, unless it asks for a fresh
    /// one.
    private static func createAnonymous(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(call.facts.body, allowing: ["metadata", "fresh", "deliver"])
        let wantsBody = try body.wantsBodyDelivery()
        let metadata = try body.objectText("metadata") ?? "{}"
        let fresh = try body.bool("fresh") ?? false
        let secret = try await call.presentedSecret()
        if !fresh, let session = secret.session {
            return .json(try await call.use(session, by: secret).json())
        }
        try call.services.requireStore()
        let issued = try await call.services.signIn.openAnonymous(
            clientAddress: call.facts.clientAddress, metadata: metadata)
        return show(issued, SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: secret.carrier == .cookie))
    }

    /// Creates a session of the token's user.
    private static func create(_ call: APICall) async throws -> APIAnswer {
        let principal = try call.principal()
        let body = try SecurityBody(call.facts.body, allowing: ["metadata", "user_id", "tenant_id", "deliver"])
        let wantsBody = try body.wantsBodyDelivery()
        let metadata = try body.objectText("metadata") ?? "{}"
        try call.requireIdentity(of: principal, in: body)
        try call.services.requireStore()
        let intent = SessionIntent(
            kind: .authenticated, clientAddress: call.facts.clientAddress, tenantID: principal.tenantID,
            userID: principal.subject, metadata: metadata)
        let issued = try await call.services.signIn.open(intent, with: principal)
        let hasCookie = call.facts.sessionCookie != nil
        return show(issued, SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: hasCookie))
    }

    private static func show(_ issued: IssuedSession, _ delivery: SecretDelivery) -> APIAnswer {
        .json(SessionBody.json(issued.session, secret: delivery.deliver(issued.secret, of: issued.session)))
    }
}
