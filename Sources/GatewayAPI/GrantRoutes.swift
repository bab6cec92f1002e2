import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn

/// What the caller has granted to clients: listing and ending it.
enum GrantRoutes {
    static let all = [
        APIRoute(.get, "/api/auth/grants", APITerms(credential: .token), list),
        APIRoute(.delete, "/api/auth/grants/{id}", APITerms(credential: .token, body: [], store: true), end),
    ]

    /// Each grant of the caller, with its client, resource and scopes, and when it was made and last used.
    private static func list(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let grants = try await call.services.agents.grants(userID: principal.subject)
        return .json([
            "grants": .array(
                grants.map { grant in
                    [
                        "id": .string(grant.id), "client_id": .string(grant.clientID),
                        "client_name": .string(grant.clientName), "resource": .string(grant.resource),
                        "scopes": .array(grant.scopes.map(JSONValue.string)),
                        "created_at": .string(Timestamp.text(grant.createdAt)),
                        "last_used_at": .string(Timestamp.text(grant.lastUsedAt)),
                    ]
                })
        ])
    }

    /// Ends a grant and the tokens that rest on it. `not_found` for one of another user, too.
    private static func end(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        try await call.services.agents.endGrant(
            id: call.pathID, userID: principal.subject, tenantID: principal.tenantID)
        return .noContent
    }
}
