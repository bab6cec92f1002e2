import Answers
import EdgeConfiguration
import HTTPWire
import Runtime
import SecurityGuard

/// Sessions, secrets and tickets: memory may admit, but only the store may refuse.
extension Gate {
    /// `token+session`: the session that the request names, else the one of its cookie, must be the caller's.
    func admitOwner(
        _ principal: Principal, _ credentials: PresentedCredentials, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        if let sessionID = credentials.sessionID, !sessionID.isEmpty {
            return try admit(principal, sessionID: String(decoding: sessionID, as: UTF8.self), opensSocket: opensSocket)
        }
        guard let cookie = credentials.sessionCookie, let hash = SessionSecret.hash(ofPresented: cookie) else {
            throw Problem(.credentialsMissing, reason: "no_session")
        }
        if case .granted(let permit) = memory.runtime.view.admit(secretHash: hash, now: memory.now()) {
            return try admit(principal, sessionID: permit.sessionID, opensSocket: opensSocket)
        }
        let runtime = memory.runtime
        return try askStore {
            guard case .success(let permit) = try await runtime.admit(secretHash: hash) else {
                throw Problem(.credentialsMissing, reason: "session_cookie_dead")
            }
            return try await Self.owner(principal, of: permit.sessionID, runtime)
        }
    }

    /// The session with this id, if it is live, authenticated and the caller's.
    private func admit(
        _ principal: Principal, sessionID: String, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        let known = memory.runtime.view.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject, now: memory.now())
        if case .granted(let permit) = known {
            return try grant(Admission(.tokenAndSession(principal, permit)), opensSocket: opensSocket)
        }
        let runtime = memory.runtime
        return try askStore { try await Self.owner(principal, of: sessionID, runtime) }
    }

    private static func owner(
        _ principal: Principal, of sessionID: String, _ runtime: Runtime
    ) async throws -> Admission {
        let admitted = try await runtime.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject)
        guard case .success(let permit) = admitted else { throw Problem(.sessionMismatch) }
        return Admission(.tokenAndSession(principal, permit))
    }

    // MARK: Secrets

    /// `session`: the current secret of any live session.
    ///
    /// A live cookie beside a different secret in `Session-Secret` is a contradiction; a cookie that is no longer valid
    /// is ignored.
    func admitSecret(_ credentials: PresentedCredentials, opensSocket: Bool) throws(Problem) -> GateVerdict {
        let header = credentials.sessionSecret.flatMap { $0.isEmpty ? nil : $0 }
        let cookie = credentials.sessionCookie
        let runtime = memory.runtime
        if let header = credentials.sessionSecret, let cookie, header != cookie {
            return try askStore {
                if try await Self.bearer(of: cookie, runtime) != nil { throw Problem.twoSecrets }
                guard let admission = try await Self.bearer(of: header, runtime) else {
                    throw Problem(.sessionMismatch)
                }
                return admission
            }
        }
        // A cookie that is no longer valid counts as none.
        let refusal = Problem(header == nil ? .credentialsMissing : .sessionMismatch)
        guard let secret = header ?? cookie, let hash = SessionSecret.hash(ofPresented: secret) else { throw refusal }
        if case .granted(let permit) = runtime.view.admit(secretHash: hash, now: memory.now()) {
            return try grant(Admission(.session(permit)), opensSocket: opensSocket)
        }
        return try askStore {
            guard let admission = try await Self.bearer(of: secret, runtime) else { throw refusal }
            return admission
        }
    }

    /// The session whose current secret this is, according to the store; nil when there is none.
    private static func bearer(of secret: [UInt8], _ runtime: Runtime) async throws -> Admission? {
        guard let hash = SessionSecret.hash(ofPresented: secret),
            case .success(let permit) = try await runtime.admit(secretHash: hash)
        else { return nil }
        return Admission(.session(permit))
    }

    // MARK: Tickets

    /// Redeems a ticket, which can be used only once. The token it was obtained with must still be valid.
    func redeem(_ ticket: [UInt8], _ terms: AccessTerms, _ head: RequestHead) throws(Problem) -> GateVerdict {
        let origin = head.first(.origin).map { head.string($0.value) }
        let runtime = memory.runtime
        let securityGuard = memory.securityGuard
        return try askStore {
            guard let grant = try await runtime.redeemTicket(ticket, origin: origin) else {
                throw Problem(.invalidToken, reason: "ticket_refused")
            }
            let principal = try securityGuard.principal(fromFacts: grant.tokenFacts).mapError { Problem($0) }.get()
            try terms.requireRights(of: principal)
            guard
                case .success(let permit) = try await runtime.admit(
                    sessionID: grant.sessionID, tenantID: principal.tenantID, userID: principal.subject)
            else { throw Problem(.sessionMismatch) }
            guard permit.epoch == grant.epoch else {
                throw Problem(.invalidToken, reason: "ticket_of_an_older_epoch")
            }
            return Admission(.tokenAndSession(principal, permit))
        }
    }

    // MARK: 7. The store

    /// Admits what memory has said yes to.
    func grant(_ admission: Admission, opensSocket: Bool) throws(Problem) -> GateVerdict {
        // While the store is silent, memory may admit requests, but no new socket.
        if opensSocket, memory.storeHealth != .current { throw Problem(.storeUnavailable, reason: "feed_silent") }
        if let permit = admission.permit { memory.runtime.noteUse(permit.sessionID) }
        return .admitted(admission)
    }

    /// Memory does not know the answer, so the store is asked. While the store is silent, the answer is
    /// `store_unavailable`, not a refusal.
    private func askStore(_ ask: @escaping @Sendable () async throws -> Admission) throws(Problem) -> GateVerdict {
        guard memory.storeHealth == .current else { throw Problem(.storeUnavailable, reason: "feed_silent") }
        return .askStore(StoreQuestion(ask))
    }
}
