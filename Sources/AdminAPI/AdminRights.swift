import Answers
import SecurityGuard

/// Who may use the operator's API. A decision without effects.
package struct AdminRights: Sendable {
    /// The scope that an access token needs.
    package static let scope = "gatehouse:admin"

    /// The user that the gateway's process runs as.
    package let user: UInt32
    /// The origins of the admin listener itself, such as `http://127.0.0.1:9180`; empty for a Unix socket.
    package let origins: [String]
    /// Whether an origin whose host is an IP literal is the listener's own if it is that of `Host`: the listener is
    /// bound to every address. The owner of a name could make it lead here; a literal can't.
    package let takesLiterals: Bool

    package init(user: UInt32, origins: [String], takesLiterals: Bool = false) {
        self.user = user
        self.origins = origins
        self.takesLiterals = takesLiterals
    }

    /// Judges a request.
    ///
    /// - Parameter verify: judges an access token of the gateway's own audience, revocation included.
    /// - Throws: ``AdminRequest/credentialsFault``, `origin_refused`, `credentials_missing`, `invalid_token`, `token_expired`, `insufficient_scope`.
    package func caller(
        of request: AdminRequest, verify: (String) -> Result<Principal, TokenFault>
    ) throws(Problem) -> AdminCaller {
        try requireOwnPage(request)
        if let fault = request.credentialsFault { throw fault }
        if case .process(let user) = request.peer, user == 0 || user == self.user { return .user(user) }
        guard let token = request.authorization.bearerToken else { throw Problem(.credentialsMissing) }
        switch verify(token) {
        case .failure(let fault): throw Problem(fault)
        case .success(let principal):
            guard principal.has(scope: Self.scope) else {
                throw Problem(.insufficientScope, reason: "admin_scope_missing")
            }
            return .subject(principal.subject)
        }
    }

    /// Refuses what a page of another origin sends: the browser says so.
    private func requireOwnPage(_ request: AdminRequest) throws(Problem) {
        if let site = request.fetchSite, site != "same-origin", site != "none" { throw Self.foreignPage }
        guard let origin = request.origin else { return }
        if origins.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) { return }
        guard takesLiterals, let host = request.host, AdminHost.isLiteral(host),
            origin.utf8.elementsEqual("http://\(host)".utf8)
        else { throw Self.foreignPage }
    }

    private static let foreignPage = Problem(
        .originRefused, detail: "Pages of other origins can't use the operator's API.", reason: "not_own_page")
}
