import Answers
import EdgeConfiguration
import Runtime
import SecurityGuard

/// Whether a caller who is known may pass.
///
/// Applied to every caller over routes, sockets, tickets and the decision endpoint alike, and also to callers the gate
/// remembers: a further rule about who may come in is a further line in ``requireRights(of:_:now:)``.
extension AccessTerms {
    /// Judges the caller of a token.
    ///
    /// - Parameters:
    ///   - profile: the caller's account; nil for a client, and where no rule depends on it.
    ///   - now: in ms since the epoch.
    /// - Throws: `insufficient_scope`, `not_allowed`; `not_allowed` as a 401 where a newer or stronger sign-in is needed
    ///   (RFC 9470).
    func requireRights(of principal: Principal, _ profile: CallerProfile?, now: Int64) throws(Problem) {
        do throws(Problem) {
            try judge(principal, profile, now: now)
        } catch {
            throw error.asked(by: principal)
        }
    }

    private func judge(_ principal: Principal, _ profile: CallerProfile?, now: Int64) throws(Problem) {
        // The token of a resource passes there and nowhere else, and no other token passes there.
        guard principal.isFor(resource: resource) else {
            throw Problem(.invalidToken, reason: "audience_mismatch")
        }
        try requireScopes(of: principal)
        if let allow {
            let isAllowed = allow.permit(
                principal, userID: principal.subject, tenantID: principal.tenantID, profile: profile)
            guard isAllowed else { throw Problem(.notAllowed, reason: "not_in_allow") }
        }
        try requireSignIn(at: principal.authenticatedAt, acr: principal.acr, now: now)
    }

    /// Judges the owner of a session that was opened by its secret.
    ///
    /// - Throws: `not_allowed`; an anonymous session meets no list.
    func requireRights(of permit: Permit, _ profile: CallerProfile?) throws(Problem) {
        guard let allow else { return }
        let isAllowed = allow.permit(nil, userID: permit.userID, tenantID: permit.tenantID, profile: profile)
        guard isAllowed else {
            throw Problem(.notAllowed, reason: permit.userID == nil ? Self.anonymousReason : "not_in_allow")
        }
    }

    /// The reason for refusing a session without an owner: signing in may help.
    package static let anonymousReason = "anonymous_session"

    private func requireScopes(of principal: Principal) throws(Problem) {
        for scope in scopes where !principal.has(scope: scope) {
            var refusal = Problem(
                .insufficientScope, detail: "The scope '\(ForwardedIdentity.safe(scope))' is needed.",
                reason: "scope_missing")
            refusal.challenge = [("scope", scopes.map(ForwardedIdentity.safe).joined(separator: " "))]
            throw refusal
        }
    }

    /// Whether the terms ask when or how the caller signed in.
    var readsSignIn: Bool { freshness != nil || !contextClasses.isEmpty }

    /// `fresh` and `acr`. Where it is not known when or how the caller signed in, neither is met.
    func requireSignIn(at authenticatedAt: Int64?, acr: String?, now: Int64) throws(Problem) {
        if let freshness {
            guard let signedIn = authenticatedAt, now &- signedIn <= freshness
            else { throw Problem(stepUp, reason: "sign_in_too_old") }
        }
        if !contextClasses.isEmpty {
            guard let acr, contextClasses.contains(where: { $0.utf8.elementsEqual(acr.utf8) }) else {
                throw Problem(stepUp, reason: "sign_in_too_weak")
            }
        }
    }

    /// What a client is asked to sign in with.
    private var stepUp: StepUp { StepUp(maxAge: freshness.map { $0 / 1_000 }, contextClasses: contextClasses) }
}
