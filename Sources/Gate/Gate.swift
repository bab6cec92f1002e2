import Answers
import EdgeConfiguration
import HTTPWire
import NIOCore
import Runtime
import SecurityGuard

/// The answer of the gate: at once from memory, or later because the store has to be asked.
package enum GateAnswer {
    case admitted(Admitted)
    case refused(Problem)
    case later(EventLoopFuture<Result<Admitted, Problem>>)
}

/// Identify, then admit: who calls, and whether the session they name is theirs.
///
/// On the loop and without waiting, but for sessions that memory does not know.
package struct Gate {
    let memory: GateMemory

    package init(_ memory: GateMemory) { self.memory = memory }

    // MARK: Identify

    /// Who an access token speaks for.
    func identify(_ token: [UInt8]) -> Result<Principal, Problem> {
        memory.tokens.principal(for: token, now: memory.now()).mapError { Problem($0) }
    }

    // MARK: Admit

    /// The usual request: a token that was verified before and, where the route asks for one, a session that memory
    /// knows to be the caller's. nil where anything else is in it: the long way, ``judge(_:scopes:_:)``, decides then.
    package func admitKnown(
        _ requirement: RouteConfiguration.Requirement, scopes: [String], _ head: RequestHead, now: Int64
    ) -> Admitted? {
        guard requirement == .token || requirement == .tokenAndSession, memory.storeHealth != .lost,
            !head.present.contains(.sessionSecret), !carriesOwnCookie(head),
            let principal = rememberedPrincipal(head, now: now), scopes.allSatisfy(principal.has(scope:))
        else { return nil }
        if requirement == .token {
            return head.present.contains(.sessionID) ? nil : Admitted(principal: principal, permit: nil)
        }
        guard let sessionID = head.only(.sessionID).map({ head.string($0.value) }),
            case .granted(let permit) = memory.runtime.view.admit(
                sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject,
                now: now)
        else { return nil }
        memory.runtime.noteUse(sessionID)
        return Admitted(principal: principal, permit: permit)
    }

    private func rememberedPrincipal(_ head: RequestHead, now: Int64) -> Principal? {
        guard let field = head.only(.authorization) else { return nil }
        return head.withBytes(field.value) { value in
            PresentedCredentials.bearerToken(in: value).flatMap { memory.tokens.remembered($0, now: now) }
        }
    }

    /// Whether one of the gateway's cookies may be among those of the request.
    private func carriesOwnCookie(_ head: RequestHead) -> Bool {
        guard head.present.contains(.cookie) else { return false }
        return head.fields.contains { field in
            field.id == .cookie && head.withBytes(field.value) { CookieHeader.mayHoldGatewayCookie($0) }
        }
    }

    /// Judges a request by what its route asks for.
    package func judge(
        _ requirement: RouteConfiguration.Requirement, scopes: [String], _ credentials: PresentedCredentials
    ) -> GateAnswer {
        if requirement == .none { return .admitted(.anyone) }
        if let problem = credentials.swapped() { return .refused(problem) }
        if memory.storeHealth == .lost { return .refused(Problem(.storeUnavailable, reason: "grace_over")) }
        switch requirement {
        case .none: return .admitted(.anyone)
        case .session: return admitSecret(credentials)
        case .token, .tokenAndSession:
            guard case .bearer(let token) = credentials.authorization, !token.isEmpty else {
                return .refused(Problem(.credentialsMissing, reason: "no_access_token"))
            }
            switch identify(token) {
            case .failure(let problem): return .refused(problem)
            case .success(let principal):
                if let problem = missingScope(of: scopes, principal) { return .refused(problem) }
                if requirement == .token { return .admitted(Admitted(principal: principal, permit: nil)) }
                return admitOwner(principal, credentials)
            }
        }
    }

    private func missingScope(of scopes: [String], _ principal: Principal) -> Problem? {
        guard let missing = scopes.first(where: { !principal.has(scope: $0) }) else { return nil }
        return Problem(
            .insufficientScope, detail: "The scope '\(ForwardedIdentity.safe(missing))' is needed.",
            reason: "scope_missing")
    }

    /// `token+session`: the session that `Session-Id` names, else the one of the cookie, must be the caller's.
    private func admitOwner(_ principal: Principal, _ credentials: PresentedCredentials) -> GateAnswer {
        if let sessionID = credentials.sessionID, !sessionID.isEmpty {
            return admit(principal, sessionID: String(decoding: sessionID, as: UTF8.self))
        }
        guard let cookie = credentials.sessionCookie, let hash = SessionSecret.hash(ofPresented: cookie) else {
            return .refused(Problem(.credentialsMissing, reason: "no_session"))
        }
        if case .granted(let permit) = memory.runtime.view.admit(secretHash: hash, now: memory.now()) {
            return admit(principal, sessionID: permit.sessionID)
        }
        let runtime = memory.runtime
        return later {
            guard case .success(let permit) = try await runtime.admit(secretHash: hash) else {
                return .failure(Problem(.credentialsMissing, reason: "session_cookie_dead"))
            }
            return try await Self.ask(runtime, principal, permit.sessionID)
        }
    }

    /// The session with this id, if it is live, authenticated and the caller's.
    package func admit(_ principal: Principal, sessionID: String) -> GateAnswer {
        let admission = memory.runtime.view.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject, now: memory.now())
        if case .granted(let permit) = admission {
            memory.runtime.noteUse(sessionID)
            return .admitted(Admitted(principal: principal, permit: permit))
        }
        let runtime = memory.runtime
        return later { try await Self.ask(runtime, principal, sessionID) }
    }

    private static func ask(
        _ runtime: Runtime, _ principal: Principal, _ sessionID: String
    ) async throws -> Result<Admitted, Problem> {
        try await runtime.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject
        ).map { Admitted(principal: principal, permit: $0) }.mapError { _ in Problem(.sessionMismatch) }
    }

    /// `session`: the current secret of any live session.
    private func admitSecret(_ credentials: PresentedCredentials) -> GateAnswer {
        let secret = credentials.sessionSecret ?? credentials.sessionCookie
        guard let secret, !secret.isEmpty else {
            return .refused(Problem(.credentialsMissing, reason: "no_session_secret"))
        }
        if let header = credentials.sessionSecret, let cookie = credentials.sessionCookie, header != cookie {
            return judgeTwoSecrets(header: header, cookie: cookie)
        }
        let isCookie = credentials.sessionSecret == nil
        guard let hash = SessionSecret.hash(ofPresented: secret) else {
            return .refused(Problem(isCookie ? .credentialsMissing : .sessionMismatch))
        }
        if case .granted(let permit) = memory.runtime.view.admit(secretHash: hash, now: memory.now()) {
            memory.runtime.noteUse(permit.sessionID)
            return .admitted(Admitted(principal: nil, permit: permit))
        }
        let runtime = memory.runtime
        return later {
            try await runtime.admit(secretHash: hash)
                .map { Admitted(principal: nil, permit: $0) }
                // A dead cookie counts as none.
                .mapError { _ in Problem(isCookie ? .credentialsMissing : .sessionMismatch) }
        }
    }

    /// A live cookie beside another secret is a contradiction; a dead one is ignored.
    private func judgeTwoSecrets(header: [UInt8], cookie: [UInt8]) -> GateAnswer {
        let runtime = memory.runtime
        return later {
            if let hash = SessionSecret.hash(ofPresented: cookie),
                case .success = try await runtime.admit(secretHash: hash)
            {
                return .failure(
                    Problem(
                        .invalidRequest, detail: "The cookie and Session-Secret name different sessions.",
                        reason: "two_secrets"))
            }
            guard let hash = SessionSecret.hash(ofPresented: header) else {
                return .failure(Problem(.sessionMismatch))
            }
            return try await runtime.admit(secretHash: hash)
                .map { Admitted(principal: nil, permit: $0) }.mapError { _ in Problem(.sessionMismatch) }
        }
    }

    /// Leaves the loop to ask the store.
    private func later(
        _ work: @escaping @Sendable () async throws -> Result<Admitted, Problem>
    ) -> GateAnswer {
        if memory.storeHealth != .current { return .refused(Problem(.storeUnavailable, reason: "feed_silent")) }
        return .later(
            memory.loop.makeFutureWithTask {
                do {
                    return try await work()
                } catch {
                    return .failure(Problem.from(error))
                }
            })
    }
}
