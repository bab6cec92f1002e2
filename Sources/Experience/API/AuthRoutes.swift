import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

/// What a caller may ask about the account behind the token.
enum AuthRoutes {
    static let all = [
        APIRoute(.get, "/api/auth/me", me),
        APIRoute(.post, "/api/auth/password", changePassword),
    ]

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

    /// A new password for the old one. Of the user's sessions only the one that asked stays.
    private static func changePassword(_ call: APICall) async throws -> APIAnswer {
        let principal = try call.principal()
        let body = try SecurityBody(call.facts.body, allowing: ["current", "new"])
        let current = try body.required("current")
        let new = try body.required("new")
        try call.services.requireStore()
        let secret = try await call.presentedSecret()
        try await change(call, principal, current: current, new: new)
        try await endOthers(call, principal, asking: secret.session)
        return .noContent
    }

    private static func change(
        _ call: APICall, _ principal: Principal, current: String, new: String
    ) async throws {
        let ended = try await call.withinLoginLimits(account: principal.subject) {
            guard principal.isUser else { throw AuthError(.invalidCredentials) }
            return try await call.services.securityGuard.changePassword(
                userID: principal.subject, current: current, new: new, keepFamily: principal.familyID)
        }
        call.services.runtime.noteEnded(ended, reason: "password_changed")
    }

    /// The caller's family was kept; of its sessions stay its home and the one that asked.
    private static func endOthers(_ call: APICall, _ principal: Principal, asking: SessionSnapshot?) async throws {
        let services = call.services
        var kept = [ByteName]()
        if let familyID = principal.familyID, let home = try await services.securityGuard.familyBinding(familyID) {
            kept.append(ByteName(home))
        }
        if let asking { kept.append(ByteName(asking.id)) }
        let proof = SessionProof.owner(tenantID: principal.tenantID, userID: principal.subject)
        let sessions = try await services.runtime.liveSessions(
            tenantID: principal.tenantID, userID: principal.subject, limit: 1_000)
        for session in sessions where !kept.contains(ByteName(session.id)) {
            _ = try? await services.runtime.end(id: session.id, proof: proof)
        }
    }
}

/// Accounts that strangers make, where `accounts.registration` allows it.
enum AccountRoutes {
    static let registerPath = "/api/auth/register"
    static let all = [APIRoute(.post, registerPath, register)]

    private static func register(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(call.facts.body, allowing: ["email", "password", "tenant_id"])
        let email = try body.required("email")
        let password = try body.required("password")
        let tenantID = try body.string("tenant_id")
        try call.services.requireStore()
        // Each one costs a hash and tells whether an e-mail is known: strangers get as many as they get login failures.
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
