import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard

/// `POST /api/intent`: one intent in a session of the caller, answered with its one event. Takes an access token in
/// `Authorization` and a session id in `Session-Id`; both are needed. The answer waits until the intent has been
/// carried out.
enum IntentRoute {
    static let route = APIRoute(.post, "/api/intent", run)

    private static func run(_ call: APICall) async throws -> APIAnswer {
        guard let token = call.bearerToken, let sessionID = call.facts.sessionID else {
            throw Problem(.credentialsMissing)
        }
        let principal = try call.judge(token)
        try call.services.requireStore()
        let permit = try await call.permit(sessionID: sessionID, for: principal)
        let event = try await call.services.runtime.execute(permit: permit, intentJSON: call.facts.body)
        return APIAnswer(body: Array(event.utf8))
    }
}
