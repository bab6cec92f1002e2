import Answers
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import TrafficCop

/// The endpoints for the account that the token belongs to.
enum AuthRoutes {
    /// Named, since ``APIResponder`` leaves it out while `accounts.passwords` is off.
    static let passwordPath = "/api/auth/password"
    static let all = [
        APIRoute(.get, "/api/auth/me", me),
        APIRoute(.post, passwordPath, changePassword),
    ]

    /// Who the token says the caller is. A client that acts for itself has no account, and so no e-mail.
    private static func me(_ call: APICall) async throws -> APIAnswer {
        let principal = try call.principal()
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
    private static func changePassword(_ call: APICall) async throws -> APIAnswer {
        let principal = try call.principal()
        let body = try SecurityBody(call.facts.body, allowing: ["current", "new"])
        let current = try body.required("current")
        let new = try body.required("new")
        try call.services.requireStore()
        let secret = try await call.presentedSecret()
        try await call.services.signIn.changePassword(
            of: principal, current: current, new: new, session: secret.session,
            clientAddress: call.facts.clientAddress)
        return .noContent
    }
}

/// Registration of accounts without a token, where `accounts.registration` allows it.
enum AccountRoutes {
    /// Named, since ``APIResponder`` leaves it out while registration or passwords are off.
    static let registerPath = "/api/auth/register"
    static let all = [APIRoute(.post, registerPath, register)]

    /// Makes an account and answers with its id and tenant; the caller is not signed in. 409 where the e-mail is taken.
    private static func register(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(call.facts.body, allowing: ["email", "password", "tenant_id"])
        let email = try body.required("email")
        let password = try body.required("password")
        let tenantID = try body.string("tenant_id")
        try call.services.requireStore()
        // Each call costs a password hash and shows whether an e-mail is known, so it counts against the limit for
        // failed logins.
        if case .limited(let seconds) = call.services.trafficCop.allow(.loginByAddress, key: call.facts.clientAddress) {
            throw Problem(.rateLimited, headers: [(name: "Retry-After", value: String(seconds))])
        }
        let account = try await call.services.securityGuard.register(
            email: email, password: password, tenantID: tenantID)
        return .json([
            "user_id": .string(account.userID),
            "tenant_id": .string(account.tenantID),
            "email": .string(account.email),
        ])
    }
}
