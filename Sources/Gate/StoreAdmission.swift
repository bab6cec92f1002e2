import Answers
import EdgeConfiguration
import Runtime
import SecurityGuard

/// Admits by the store's answers, where memory can't say yes. Used off the event loop. The order is that of
/// ``Gate/recall(_:_:_:now:)``: the account, the rights, the session.
struct StoreAdmission: Sendable {
    let terms: AccessTerms
    let runtime: Runtime
    let securityGuard: SecurityGuard
    let now: @Sendable () -> Int64

    /// The account of a user, if the terms need it.
    func profile(of userID: String?) async throws -> CallerProfile? {
        guard terms.readsAccount, let userID, Gate.hasAccount(userID) else { return nil }
        if case .current(let profile) = securityGuard.profiles.known(userID) { return profile }
        let askedAt = now()
        do {
            return try await securityGuard.profiles.load(userID)
        } catch {
            // As while the store is silent: what is known from before the interruption goes on being used. The gate
            // asks no more once the grace is over.
            guard now() - askedAt < Self.patience, case .doubtful(let known) = securityGuard.profiles.known(userID)
            else { throw error }
            return known
        }
    }

    /// A failure that took longer, in ms, may have outlasted the grace.
    private static let patience: Int64 = 2_000

    /// The caller of a verified token, if they have the rights.
    func caller(_ principal: Principal) async throws -> Caller {
        let profile = try await profile(of: principal.subject)
        return try Caller(principal, profile, terms, now: now())
    }

    /// The caller of a verified token, with their session where the terms need one.
    func admit(_ principal: Principal, _ credentials: PresentedCredentials) async throws -> Admission {
        let caller = try await caller(principal)
        if let admission = caller.admission(terms) { return admission }
        return try await owner(caller, credentials)
    }

    /// The caller with the session that the request names, else the one of its cookie.
    func owner(_ caller: Caller, _ credentials: PresentedCredentials) async throws -> Admission {
        switch try credentials.namedSession() {
        case .id(let sessionID): return try await owner(caller, of: sessionID)
        case .secret(let hash):
            guard case .success(let permit) = try await runtime.admit(secretHash: hash) else {
                throw Problem(.credentialsMissing, reason: "session_cookie_dead")
            }
            return try await owner(caller, of: permit.sessionID)
        }
    }

    /// The caller with this session, if it is live, authenticated and theirs.
    func owner(_ caller: Caller, of sessionID: String) async throws -> Admission {
        let principal = caller.principal
        let admitted = try await runtime.admit(
            sessionID: sessionID, tenantID: principal.tenantID, userID: principal.subject)
        guard case .success(let permit) = admitted else { throw Problem(.sessionMismatch).asked(by: principal) }
        return caller.admission(terms, with: permit)
    }

    /// The session whose current secret this is; nil when there is none.
    func bearer(of secret: [UInt8]) async throws -> Admission? {
        guard let hash = SessionSecret.hash(ofPresented: secret),
            case .success(let permit) = try await runtime.admit(secretHash: hash)
        else { return nil }
        return try await admit(permit)
    }

    /// A session that was opened by its secret, if its owner has the rights.
    func admit(_ permit: Permit) async throws -> Admission {
        let profile = try await profile(of: permit.userID)
        try terms.requireRights(of: permit, profile)
        if terms.readsSignIn {
            let facts = try await securityGuard.signIn(ofFamily: permit.familyID)
            try terms.requireSignIn(at: facts?.authenticatedAt, acr: facts?.acr, now: now())
        }
        return Admission(.session(permit), profile, terms)
    }

    /// Redeems a ticket, which can be used only once. The token it was obtained with must still be valid.
    func redeem(_ ticket: [UInt8], origin: String?) async throws -> Admission {
        guard let grant = try await runtime.redeemTicket(ticket, origin: origin) else {
            throw Problem(.invalidToken, reason: "ticket_refused")
        }
        let principal = try securityGuard.principal(fromFacts: grant.tokenFacts).mapError { Problem($0) }.get()
        let caller = try await caller(principal)
        guard
            case .success(let permit) = try await runtime.admit(
                sessionID: grant.sessionID, tenantID: principal.tenantID, userID: principal.subject)
        else { throw Problem(.sessionMismatch).asked(by: principal) }
        guard permit.epoch == grant.epoch else {
            throw Problem(.invalidToken, reason: "ticket_of_an_older_epoch")
        }
        return caller.admission(terms, with: permit)
    }
}
