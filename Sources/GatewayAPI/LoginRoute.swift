import Answers
import EdgeConfiguration
import Encodings
import HTTPTypes
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

/// `POST /api/auth/login`: a password becomes a family of tokens and an authenticated session.
///
/// The session that counts is looked up before the password is judged: of two logins racing for one anonymous session
/// the slower one is then told of the conflict, instead of finding its secret outdated.
enum LoginRoute {
    static let route = APIRoute(.post, "/api/auth/login", login)

    /// The session that a login is about, and the secret that opens it.
    private struct Target: Sendable {
        let session: SessionSnapshot
        let secretHash: [UInt8]
    }

    /// What the login does to which session; its `session` member says so.
    private enum Plan: Sendable {
        case upgrade(Target)
        case resume(Target)
        case create

        var word: String {
            switch self {
            case .upgrade: "upgraded"
            case .resume: "resumed"
            case .create: "created"
            }
        }
    }

    private static func login(_ call: APICall) async throws -> APIAnswer {
        let body = try SecurityBody(
            call.facts.body, allowing: ["email", "password", "tenant_id", "session_id", "deliver"])
        let wantsBody = try body.wantsBodyDelivery()
        let email = try body.required("email")
        let password = try body.required("password")
        let tenantID = try body.string("tenant_id")
        let named = try body.string("session_id")
        if let named { try call.requireShape(named, .sessionID) }
        try call.services.requireStore()
        let target = try await target(call, named: named)

        let account = try await authenticate(call, email: email, password: password, tenantID: tenantID)
        let plan = try plan(target, account)
        if let named, target == nil { try await noteNotAdopted(call, named: named) }
        let (tokens, issued) = try await carryOut(plan, call, account)

        let delivery = SecretDelivery(call, bodyWanted: wantsBody, cameByCookie: call.facts.sessionCookie != nil)
        var answer = TokenAnswer.members(of: tokens)
        let lifetime = call.services.configuration.tokens.refreshTokenLifetime
        if let refresh = tokens.refreshToken.flatMap({ delivery.hand(refreshToken: $0, lifetime: lifetime) }) {
            answer["refresh_token"] = .string(refresh)
        }
        answer["session_id"] = .string(issued.session.id)
        if let text = delivery.hand(issued.secret, of: issued.session) { answer["session_secret"] = .string(text) }
        answer["session"] = .string(plan.word)
        answer["user_id"] = .string(account.userID)
        answer["tenant_id"] = .string(account.tenantID)
        return .json(answer)
    }

    // MARK: The password

    /// Judges the password, within the limits: only failures count in the end.
    private static func authenticate(
        _ call: APICall, email: String, password: String, tenantID: String?
    ) async throws -> AccountRecord {
        // The tenant is left out of the key: naming one or none must not give twice the tries.
        try await call.withinLoginLimits(account: Accounts.limitKey(email)) {
            try await call.services.securityGuard.authenticate(email: email, password: password, tenantID: tenantID)
        }
    }

    // MARK: The session

    /// The live session that the presented secret opens, unless another one is named.
    ///
    /// The secret before the current one counts for some seconds: its owner may repeat a login whose answer was lost,
    /// and whoever lost the race for the session is told so.
    private static func target(_ call: APICall, named: String?) async throws -> Target? {
        let secret = try await call.presentedSecret()
        guard let hash = secret.hash else { return nil }
        var session = secret.session
        if session == nil { session = try await call.services.runtime.loginTarget(secretHash: hash)?.session }
        guard let session else { return nil }
        // The secret of another session than the one named proves nothing about that one.
        if let named, !named.hasSameBytes(as: session.id) { return nil }
        return Target(session: session, secretHash: hash)
    }

    /// An id that somebody names is never adopted; that it was named is worth a line in the audit log.
    private static func noteNotAdopted(_ call: APICall, named: String) async throws {
        let isKnown = try await call.services.runtime.knows(sessionID: named)
        call.services.runtime.note(
            .notAdopted, sessionID: named, reason: isKnown ? "secret_missing_or_wrong" : "session_id_unknown")
    }

    private static func plan(_ target: Target?, _ account: AccountRecord) throws(Problem) -> Plan {
        guard let target else { return .create }
        guard target.session.state == .authenticated else { return .upgrade(target) }
        guard target.session.isOwned(tenantID: account.tenantID, userID: account.userID) else {
            throw Problem(.sessionConflict)
        }
        return .resume(target)
    }

    /// The family is there first and the session's row names it, so that one write makes the login wholly true.
    private static func carryOut(
        _ plan: Plan, _ call: APICall, _ account: AccountRecord
    ) async throws -> (IssuedTokens, IssuedSession) {
        let services = call.services
        let ending = SessionEnding(services)
        let binding: String? =
            switch plan {
            case .upgrade(let target), .resume(let target): target.session.id
            case .create: nil
            }
        let tokens = try await services.securityGuard.openFamily(for: account, binding: binding)
        let issued: IssuedSession
        do {
            issued = try await write(plan, call, account, familyID: tokens.familyID)
            if binding == nil {
                try await services.securityGuard.bind(familyID: tokens.familyID, to: issued.session.id)
            }
            if case .resume = plan { try await endFormerFamilies(call, account, issued) }
            try await ending.confirm(issued, for: tokens.principal)
            try await ending.makeRoom(besides: issued.session)
        } catch {
            // The login has failed, and is told so. A family that can't be ended now is one that nobody has a token of:
            // it lies unused until its time is over, and ends with all others of the user before that.
            try? await ending.endFamily(tokens.familyID)
            // Disabled, or given another password, since the password was judged.
            if Problem.from(error).code == .invalidToken { throw AuthError(.invalidCredentials) }
            // Dead or given a new secret since it was looked up: somebody was faster.
            if let fault = error as? SessionFault, fault.code == .mismatch { throw SessionFault(.conflict) }
            throw error
        }
        return (tokens, issued)
    }

    private static func write(
        _ plan: Plan, _ call: APICall, _ account: AccountRecord, familyID: String
    ) async throws -> IssuedSession {
        func intent(_ kind: SessionIntent.Kind, _ sessionID: String?) -> SessionIntent {
            SessionIntent(
                kind: kind, clientAddress: call.facts.clientAddress, sessionID: sessionID,
                tenantID: account.tenantID, userID: account.userID)
        }
        let runtime = call.services.runtime
        let cop = call.services.trafficCop
        switch plan {
        case .create:
            let intent = intent(.authenticated, nil)
            return try await runtime.createAuthenticated(
                try cop.prepare(intent).get(), for: intent, familyID: familyID)
        case .upgrade(let target):
            let intent = intent(.upgrade, target.session.id)
            return try await runtime.upgrade(
                try cop.prepare(intent).get(), for: intent, secretHash: target.secretHash, familyID: familyID,
                expectedEpoch: target.session.epoch)
        case .resume(let target):
            let intent = intent(.resume, target.session.id)
            return try await runtime.resume(
                try cop.prepare(intent).get(), for: intent, secretHash: target.secretHash, familyID: familyID,
                expectedEpoch: target.session.epoch)
        }
    }

    /// The families that were at home in a resumed session die; one whose guest the session was lives on elsewhere.
    private static func endFormerFamilies(
        _ call: APICall, _ account: AccountRecord, _ issued: IssuedSession
    ) async throws {
        guard let familyID = issued.session.familyID else { return }
        let ended = try await call.services.securityGuard.endFamilies(
            of: account.userID, atHomeIn: issued.session.id, except: familyID)
        call.services.runtime.noteEnded(ended, reason: "family_ended")
    }
}

/// The members that every answer with tokens has.
package enum TokenAnswer {
    package static func members(of tokens: IssuedTokens) -> JSONObject {
        [
            "access_token": .string(tokens.accessToken),
            "token_type": "Bearer",
            "expires_in": .integer(tokens.expiresIn),
        ]
    }
}
