import Answers
import EdgeConfiguration
import HTTPWire
import Runtime
import SecurityGuard

/// Tokens, sessions, secrets and tickets: memory may admit, but only the store may refuse.
extension Gate {
    // MARK: Tokens

    /// What memory says of the caller of a good token.
    enum Recollection {
        /// The caller may pass.
        case admitted(Admission)
        /// Their account is not known.
        case accountUnknown
        /// They have the rights, and the session is not known: this one, or where there is no id, that of the cookie.
        case sessionUnknown(Caller, sessionID: String?)
    }

    /// 6. and 7. for the caller of a good token, by what memory knows: the account, the rights, the session. Both ways to
    /// admit by memory end here, and what is not known is asked of the store in the same order, by ``StoreAdmission``:
    /// it waits for each answer, and Swift has no function that may either wait or not.
    ///
    /// - Parameters:
    ///   - credentials: which session the request names, if the terms ask for one.
    ///   - now: in ms since the epoch.
    /// - Throws: the refusal.
    func recall(
        _ principal: Principal, _ credentials: some NamesSession, _ terms: AccessTerms, now: Int64
    ) throws(Problem) -> Recollection {
        guard case .known(let profile) = account(of: principal, terms) else { return .accountUnknown }
        let caller = try Caller(principal, profile, terms, now: now)
        if let admission = caller.admission(terms) { return .admitted(admission) }
        let sessionID: String
        switch try credentials.namedSession() {
        case .id(let id): sessionID = id
        case .secret(let hash):
            guard case .granted(let permit) = memory.runtime.view.admit(secretHash: hash, now: now) else {
                return .sessionUnknown(caller, sessionID: nil)
            }
            sessionID = permit.sessionID
        }
        let known = memory.runtime.view.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject, now: now)
        guard case .granted(let permit) = known else { return .sessionUnknown(caller, sessionID: sessionID) }
        return .admitted(caller.admission(terms, with: permit))
    }

    /// `token` and `token+session`: the rights of the caller, and then their session.
    func admit(
        _ principal: Principal, _ credentials: PresentedCredentials, _ terms: AccessTerms, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        let asked = storeAdmission(terms)
        switch try recall(principal, credentials, terms, now: memory.now()) {
        case .admitted(let admission): return try grant(admission, opensSocket: opensSocket)
        case .accountUnknown:
            return try askStore(about: principal.subject) { try await asked.admit(principal, credentials) }
        case .sessionUnknown(let caller, sessionID: let sessionID?):
            return try askStore { try await asked.owner(caller, of: sessionID) }
        case .sessionUnknown(let caller, sessionID: nil):
            return try askStore { try await asked.owner(caller, credentials) }
        }
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

    // MARK: Secrets

    /// `session`: the current secret of any live session. ``SessionSecretRule`` says which one counts.
    func admitSecret(
        _ credentials: PresentedCredentials, _ terms: AccessTerms, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        let rule = SessionSecretRule(header: credentials.sessionSecret, cookie: credentials.sessionCookie)
        let asked = storeAdmission(terms)
        if rule.asksCookie, let cookie = credentials.sessionCookie {
            let runtime = memory.runtime
            return try askStore {
                let carrier = try rule.carrier(cookieIsLive: try await Self.isLive(cookie, runtime))
                guard let secret = credentials.secret(in: carrier),
                    let admission = try await asked.bearer(of: secret)
                else { throw SessionSecretRule.refusal(of: carrier, isLive: false) }
                return admission
            }
        }
        let carrier = try rule.carrier(cookieIsLive: false)
        let refusal = SessionSecretRule.refusal(of: carrier, isLive: false)
        guard let secret = credentials.secret(in: carrier), let hash = SessionSecret.hash(ofPresented: secret) else {
            throw refusal
        }
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
        noteUse(of: admission)
        return .admitted(admission)
    }

    /// The session of an admission was used.
    func noteUse(of admission: Admission) {
        if let permit = admission.permit { memory.runtime.noteUse(permit.sessionID) }
    }

    /// Judges again what may have changed while the store was asked: a token that was good then may be revoked by now,
    /// and the feed may have fallen silent. Nothing else makes an admission of the store's answer.
    ///
    /// - Parameter answer: what ``StoreQuestion/answer()`` has returned.
    /// - Throws: the refusal.
    package func confirm(_ answer: UnconfirmedAdmission, opensSocket: Bool) throws(Problem) -> Admission {
        let admission = answer.admission
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

extension PresentedCredentials {
    /// The session secret in a carrier.
    fileprivate func secret(in carrier: SessionSecretRule.Carrier?) -> [UInt8]? {
        switch carrier {
        case nil: nil
        case .header?: sessionSecret
        case .cookie?: sessionCookie
        }
    }
}
