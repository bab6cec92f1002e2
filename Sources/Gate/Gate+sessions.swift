import Answers
import EdgeConfiguration
import HTTPWire
import Runtime
import SecurityGuard

/// Tokens, sessions, secrets and tickets: memory may admit, but only the store may refuse.
extension Gate {
    // MARK: Tokens

    /// `token` and `token+session`: the rights of the caller, and then their session.
    func admit(
        _ principal: Principal, _ credentials: PresentedCredentials, _ terms: AccessTerms, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        let asked = storeAdmission(terms)
        guard case .known(let profile) = account(of: principal, terms) else {
            return try askStore(about: principal.subject) { try await asked.admit(principal, credentials) }
        }
        try terms.requireRights(of: principal, profile, now: memory.now())
        guard terms.requirement == .tokenAndSession else {
            return try grant(Admission(.token(principal), profile, terms), opensSocket: opensSocket)
        }
        let caller = StoreAdmission.Caller(principal: principal, profile: profile)
        return try admitOwner(caller, credentials, asked, opensSocket: opensSocket)
    }

    /// The same for another issuer's token that is not in memory. Its keys may have to be fetched, so it is verified off
    /// the event loop.
    func admit(
        foreign token: [UInt8], _ credentials: PresentedCredentials, _ terms: AccessTerms
    ) throws(Problem) -> GateVerdict {
        let asked = storeAdmission(terms)
        let foreignTokens = memory.securityGuard.foreignTokens
        let resource = terms.resource
        return try askStore {
            try await asked.admit(try await foreignTokens.identify(token, resource: resource), credentials)
        }
    }

    /// `token+session`: the session that the request names, else the one of its cookie, must be the caller's.
    private func admitOwner(
        _ caller: StoreAdmission.Caller, _ credentials: PresentedCredentials, _ asked: StoreAdmission,
        opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        if let sessionID = credentials.sessionID, !sessionID.isEmpty {
            let sessionID = String(decoding: sessionID, as: UTF8.self)
            return try admit(caller, sessionID: sessionID, asked, opensSocket: opensSocket)
        }
        guard let cookie = credentials.sessionCookie, let hash = SessionSecret.hash(ofPresented: cookie) else {
            throw Problem(.credentialsMissing, reason: "no_session")
        }
        if case .granted(let permit) = memory.runtime.view.admit(secretHash: hash, now: memory.now()) {
            return try admit(caller, sessionID: permit.sessionID, asked, opensSocket: opensSocket)
        }
        return try askStore { try await asked.owner(caller, credentials) }
    }

    /// The session with this id, if it is live, authenticated and the caller's.
    private func admit(
        _ caller: StoreAdmission.Caller, sessionID: String, _ asked: StoreAdmission, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        let principal = caller.principal
        let known = memory.runtime.view.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject, now: memory.now())
        if case .granted(let permit) = known {
            let admission = Admission(.tokenAndSession(principal, permit), caller.profile, asked.terms)
            return try grant(admission, opensSocket: opensSocket)
        }
        return try askStore { try await asked.owner(caller, of: sessionID) }
    }

    // MARK: Secrets

    /// `session`: the current secret of any live session.
    ///
    /// A live cookie beside a different secret in `Session-Secret` is a contradiction; a cookie that is no longer valid
    /// is ignored.
    func admitSecret(
        _ credentials: PresentedCredentials, _ terms: AccessTerms, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        let header = credentials.sessionSecret.flatMap { $0.isEmpty ? nil : $0 }
        let cookie = credentials.sessionCookie
        let asked = storeAdmission(terms)
        if let header = credentials.sessionSecret, let cookie, header != cookie {
            let runtime = memory.runtime
            return try askStore {
                if try await Self.isLive(cookie, runtime) { throw Problem.twoSecrets }
                guard let admission = try await asked.bearer(of: header) else { throw Problem(.sessionMismatch) }
                return admission
            }
        }
        // A cookie that is no longer valid counts as none.
        let refusal = Problem(header == nil ? .credentialsMissing : .sessionMismatch)
        guard let secret = header ?? cookie, let hash = SessionSecret.hash(ofPresented: secret) else { throw refusal }
        if case .granted(let permit) = memory.runtime.view.admit(secretHash: hash, now: memory.now()) {
            // How its owner signed in is not in memory.
            guard !terms.readsSignIn, case .known(let profile) = account(of: permit.userID, terms) else {
                return try askStore { try await asked.admit(permit) }
            }
            try terms.requireRights(of: permit, profile)
            return try grant(Admission(.session(permit), profile, terms), opensSocket: opensSocket)
        }
        return try askStore {
            guard let admission = try await asked.bearer(of: secret) else { throw refusal }
            return admission
        }
    }

    /// Whether this is the current secret of a live session, according to the store.
    private static func isLive(_ secret: [UInt8], _ runtime: Runtime) async throws -> Bool {
        guard let hash = SessionSecret.hash(ofPresented: secret) else { return false }
        if case .success = try await runtime.admit(secretHash: hash) { return true }
        return false
    }

    // MARK: Tickets

    /// Redeems a ticket, which can be used only once. The token it was obtained with must still be valid.
    func redeem(_ ticket: [UInt8], _ terms: AccessTerms, _ head: RequestHead) throws(Problem) -> GateVerdict {
        let origin = head.first(.origin).map { head.string($0.value) }
        let asked = storeAdmission(terms)
        return try askStore { try await asked.redeem(ticket, origin: origin) }
    }

    // MARK: 7. The store

    /// Admits what memory has said yes to.
    private func grant(_ admission: Admission, opensSocket: Bool) throws(Problem) -> GateVerdict {
        // While the store is silent, memory may admit requests, but no new socket.
        if opensSocket, memory.storeHealth != .current { throw Problem(.storeUnavailable, reason: "feed_silent") }
        if let permit = admission.permit { memory.runtime.noteUse(permit.sessionID) }
        return .admitted(admission)
    }

    /// Judges again what may have changed while the store was asked: a token that was good then may be revoked by now,
    /// and the feed may have fallen silent.
    ///
    /// - Parameter admission: the store's answer.
    /// - Throws: the refusal.
    package func confirm(_ admission: Admission, opensSocket: Bool) throws(Problem) -> Admission {
        if let principal = admission.principal, memory.securityGuard.isRevoked(principal) {
            throw Problem(.invalidToken, reason: "revoked")
        }
        if opensSocket, memory.storeHealth != .current { throw Problem(.storeUnavailable, reason: "feed_silent") }
        return admission
    }

    func storeAdmission(_ terms: AccessTerms) -> StoreAdmission {
        StoreAdmission(
            terms: terms, runtime: memory.runtime, securityGuard: memory.securityGuard, now: memory.now)
    }

    /// Memory does not know the answer, so the store is asked. While the store is silent, the answer is
    /// `store_unavailable`, not a refusal.
    ///
    /// - Parameter userID: the user whose account the answer needs first; nil where that is not known.
    func askStore(
        about userID: String? = nil, _ ask: @escaping @Sendable () async throws -> Admission
    ) throws(Problem) -> GateVerdict {
        guard memory.storeHealth == .current else { throw Problem(.storeUnavailable, reason: "feed_silent") }
        return .askStore(StoreQuestion(account: userID.map { ($0, memory.profiles.shared) }, ask))
    }
}
