import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard

/// `POST /api/intent`: one intent in a session of the caller, answered with its one event. Takes an access token in
/// `Authorization` and a session id in `Session-Id`; both are needed. The answer waits until the intent has been
/// carried out.
enum IntentRoute {
    /// The body is an intent, which the Runtime reads.
    static let route = APIRoute(
        .post, "/api/intent", APITerms(credential: .token, store: true, session: .ownedInField), run)

    private static func run(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let event = try await call.services.runtime.execute(permit: proven.permit(), intentJSON: call.facts.body)
        return APIAnswer(body: Array(event.utf8))
    }
}
