import Answers
import EdgeConfiguration
import SecurityGuard

/// Whether a caller who is known may pass.
///
/// Applied to every caller that shows a token or a ticket, over routes, sockets and the decision endpoint alike, and
/// also to callers the gate remembers: a further rule about who may come in is a further line in
/// ``requireRights(of:)``.
extension AccessTerms {
    /// - Throws: `insufficient_scope`.
    func requireRights(of principal: Principal) throws(Problem) {
        try requireScopes(of: principal)
    }

    /// The same check, where the reason for a refusal is not needed.
    func permits(_ principal: Principal) -> Bool {
        (try? requireRights(of: principal)) != nil
    }

    private func requireScopes(of principal: Principal) throws(Problem) {
        for scope in scopes where !principal.has(scope: scope) {
            throw Problem(
                .insufficientScope, detail: "The scope '\(ForwardedIdentity.safe(scope))' is needed.",
                reason: "scope_missing")
        }
    }
}
