import Answers
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn

/// `POST /api/session/{id}/extend`: prolongs the sockets and streams of a session that were opened with a token of
/// another issuer, by a newer token of the same issuer and subject. Answers 204 and issues no token. Sockets that rest
/// on the gateway's own tokens need no such call: a refresh extends them.
enum ExtendRoute {
    static let all = [
        APIRoute(
            .post, "/api/session/{id}/extend",
            APITerms(path: .session, credential: .foreignToken, body: [], store: true, session: .owned), extend)
    ]

    private static func extend(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        try await call.services.signIn.extend(sessionID: proven.permit().sessionID, by: proven.caller())
        return .noContent
    }
}
