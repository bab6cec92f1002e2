import Answers
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn

/// `POST /api/session/{id}/extend`: prolongs the sockets and streams of a session that were opened with a token of
/// another issuer, by a newer token of the same issuer and subject. Answers 204 and issues no token. Sockets that rest
/// on the gateway's own tokens need no such call: a refresh extends them.
enum ExtendRoute {
    static let all = [APIRoute(.post, "/api/session/{id}/extend", extend)]

    private static func extend(_ call: APICall) async throws -> APIAnswer {
        try call.requireShape(call.pathID, .sessionID)
        guard let token = call.bearerToken else { throw Problem(.credentialsMissing) }
        try call.requireShape(token, .accessToken)
        _ = try SecurityBody(call.facts.body, allowing: [])
        try call.services.requireStore()
        let securityGuard = call.services.securityGuard
        let principal = try await securityGuard.foreignTokens.identify(Array(token.utf8), resource: nil)
        let permit = try await call.permit(sessionID: call.pathID, for: principal)
        try await call.services.signIn.extend(sessionID: permit.sessionID, by: principal)
        return .noContent
    }
}
