import Answers
import Encodings
import HTTPTypes
import OAuth
import Runtime
import SecurityGuard
import SignIn
import StateSurface

/// The endpoints for the account that the token belongs to.
enum AuthRoutes {
    /// Named, since ``APIResponder`` leaves it out while `accounts.passwords` is off.
    static let passwordPath = "/api/auth/password"
    static let all = [
        APIRoute(.get, "/api/auth/me", APITerms(credential: .token), me),
        APIRoute(
            .post, passwordPath,
            APITerms(credential: .token, body: [.required("current"), .required("new")], store: true), changePassword),
    ]

    /// Who the token says the caller is. A client that acts for itself has no account, and so no e-mail.
    private static func me(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let account = principal.isUser ? try await call.services.securityGuard.account(userID: principal.subject) : nil
        return .json([
            "user_id": .string(principal.subject),
            "tenant_id": .string(principal.tenantID),
            "email": account.flatMap { $0.email.isEmpty ? nil : .string($0.email) } ?? .null,
            "scope": .string(Scope.text(principal.scope)),
            "expires_at": .string(Timestamp.text(principal.expiresAt)),
        ])
    }

    /// Changes the password. Of the user's sessions only the one that asked stays, and the home of its family.
    private static func changePassword(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let principal = try proven.caller()
        let current = try proven.body.required("current")
        let new = try proven.body.required("new")
        let secret = try await call.presentedSecret()
        try await call.services.signIn.changePassword(
            of: principal, current: current, new: new, session: secret.session,
            clientAddress: call.facts.clientAddress)
        return .noContent
    }
}
