import Answers
import Runtime
import SignIn

/// Session secrets of requests: which one counts, and what it opens.
extension APICall {
    /// The session secret that counts: the header's, or a live cookie's.
    ///
    /// ``SessionSecretRule`` says which one that is. A cookie that is no longer valid is cleared and does not count, but
    /// is still returned: on its own session it may explain why it is no longer valid.
    ///
    /// - Throws: `invalid_request` for a live cookie beside a different header; the store's errors.
    func presentedSecret() async throws -> PresentedSecret {
        let (header, cookie) = (facts.sessionSecret ?? "", facts.sessionCookie ?? "")
        let rule = SessionSecretRule(
            header: facts.sessionSecret.map { Array($0.utf8) }, cookie: facts.sessionCookie.map { Array($0.utf8) })
        let cookieIsLive = rule.asksCookie ? try await fromCookie(cookie).session != nil : false
        switch try rule.carrier(cookieIsLive: cookieIsLive) {
        case nil: return .none
        case .cookie?: return try await fromCookie(cookie)
        case .header?: return try await fromHeader(header, besideCookie: !cookie.isEmpty)
        }
    }

    /// Looks the header's secret up. If it opens no live session, a cookie is cleared, since it opens none either.
    private func fromHeader(_ header: String, besideCookie: Bool) async throws -> PresentedSecret {
        let hash = SessionSecret.hash(ofPresented: header)
        var session: SessionSnapshot?
        if let hash { session = try await services.runtime.current(secretHash: hash) }
        if session == nil, besideCookie { clearSessionCookie() }
        if let session { note(session) }
        return PresentedSecret(text: header, hash: hash, carrier: .header, session: session)
    }

    /// The secret to try on the session that the request names. A header alone is not looked up beforehand, since the
    /// session itself tells whether the secret opens it. Of a request with a cookie it is what ``presentedSecret()``
    /// returns.
    func secretToTry() async throws -> PresentedSecret {
        guard facts.sessionCookie == nil, let header = facts.sessionSecret else { return try await presentedSecret() }
        return PresentedSecret(
            text: header, hash: SessionSecret.hash(ofPresented: header), carrier: .header, session: nil)
    }

    /// Why a secret opens no live session. Only a caller with a session's last secret is told the exact reason.
    ///
    /// - Returns: `ended` or `expired` for the last secret of a session, else `mismatch`.
    package func fault(ofUnusable secret: PresentedSecret) async throws -> SessionFault {
        guard let hash = secret.hash else { return SessionFault(.mismatch) }
        return try await services.signIn.fault(ofUnusableSecret: hash)
    }

    /// Looks a cookie's secret up. One that opens no live session is cleared with the answer.
    private func fromCookie(_ cookie: String) async throws -> PresentedSecret {
        guard let hash = SessionSecret.hash(ofPresented: cookie) else {
            clearSessionCookie()
            return .none
        }
        let session = try await services.runtime.current(secretHash: hash)
        if let session { note(session) } else { clearSessionCookie() }
        return PresentedSecret(text: cookie, hash: hash, carrier: .cookie, session: session)
    }
}

/// A session secret as a request carried it, looked up.
package struct PresentedSecret: Sendable {
    /// The secret itself. It is only ever sent back as the cookie it came in. Empty for ``none``.
    package let text: String
    /// The secret's hash; nil for a text that does not have the form of a secret.
    package let hash: [UInt8]?
    /// How the secret was sent; nil when none was.
    package let carrier: SessionSecretRule.Carrier?
    /// The live session whose current secret this is; nil when there is none.
    package let session: SessionSnapshot?

    /// No secret was sent.
    package static let none = PresentedSecret(text: "", hash: nil, carrier: nil, session: nil)

    /// Whether a secret was sent that has to be judged: any except a dead cookie.
    package var counts: Bool { SessionSecretRule.counts(carrier, isLive: session != nil) }
    /// Whether it is a cookie that opens no live session, which must not make a request fail.
    var isDeadCookie: Bool { carrier != nil && !counts }
    /// The refusal of a request that the secret does not help.
    var refusal: Problem { SessionSecretRule.refusal(of: carrier, isLive: session != nil) }
    /// The proof for the Runtime. A text that isn't a secret becomes an empty hash, which matches no session.
    var proof: SessionProof { .secret(hash: hash ?? []) }
}
