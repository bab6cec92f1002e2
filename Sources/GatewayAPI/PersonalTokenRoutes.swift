import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn
import StateSurface

/// The caller's personal access tokens. The text of a token is in the answer to its creation and nowhere else.
enum PersonalTokenRoutes {
    static let all = [
        APIRoute(.get, "/api/auth/tokens", APITerms(credential: .token), list),
        APIRoute(.post, "/api/auth/tokens", APITerms(credential: .token, body: wish, store: true), make),
        APIRoute(.delete, "/api/auth/tokens/{id}", APITerms(credential: .token, body: [], store: true), end),
    ]

    private static let wish: [BodyMember] = [
        .required("name"), .requiredStrings("scopes"), .requiredInteger("expires_in"), .string("resource"),
    ]

    /// 201. `expires_in` is in seconds.
    private static func make(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let body = proven.body
        let request = PersonalTokenRequest(
            name: try body.required("name"), scopes: try body.requiredStrings("scopes"),
            expiresIn: try body.requiredInteger("expires_in"), resource: try body.string("resource"))
        let made = try await call.services.agents.makePersonalToken(request, for: principal)
        return .created([
            "token": .string(made.text), "id": .string(made.record.id),
            "expires_at": .string(Timestamp.text(made.record.expiresAt)),
        ])
    }

    /// The tokens of the caller without their texts, which are not kept.
    private static func list(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let tokens = try await call.services.agents.personalTokens(userID: principal.subject)
        return .json([
            "tokens": .array(
                tokens.map { token, family in
                    [
                        "id": .string(token.id), "name": .string(token.name),
                        "scopes": .array(family.scope.map(JSONValue.string)),
                        "resource": family.resource.map(JSONValue.string) ?? .null,
                        "created_at": .string(Timestamp.text(family.createdAt)),
                        "expires_at": .string(Timestamp.text(token.expiresAt)),
                    ]
                })
        ])
    }

    /// 204; `not_found` for a token of another user, too. Sockets and streams that rest on it are closed.
    private static func end(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        try await call.services.agents.endPersonalToken(id: call.pathID, of: proven.caller())
        return .noContent
    }
}
