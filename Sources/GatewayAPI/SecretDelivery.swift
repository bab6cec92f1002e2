import Answers
import Runtime

/// How secrets are returned: as a browser's cookies, or in the body. A browser gets them as cookies, which its scripts
/// can't read, unless it asks for the body. Any other client gets them in the body, and as a cookie besides where it
/// has sent one.
package struct SecretDelivery: Sendable {
    private let call: APICall
    private let usesCookies: Bool
    private let usesBody: Bool

    /// - Parameters:
    ///   - bodyWanted: the body asks for `"deliver":"body"`.
    ///   - cameByCookie: the request's credential came in a cookie, so the new one is returned as a cookie too.
    package init(_ call: APICall, bodyWanted: Bool, cameByCookie: Bool = false) {
        self.call = call
        usesBody = bodyWanted || !call.facts.isBrowser
        usesCookies = !bodyWanted && (call.facts.isBrowser || cameByCookie)
    }

    /// Returns a session secret to the client. The cookie lives as long as the session, as things are now.
    /// - Returns: the value for the body; nil when the body is not to contain it.
    func deliver(_ secret: SessionSecret, of session: SessionSnapshot) -> String? {
        if usesCookies { call.setSessionCookie(secret.text, maxAge: call.secondsLeft(of: session)) }
        return usesBody ? secret.text : nil
    }

    /// Returns a refresh token to the client, with its remaining life in ms.
    /// - Returns: the value for the body; nil when the body is not to contain it.
    func deliver(refreshToken: String, lifetime: Int64) -> String? {
        if usesCookies { call.setRefreshCookie(refreshToken, maxAge: lifetime / 1000) }
        return usesBody ? refreshToken : nil
    }
}

extension APICall {
    /// How long a session's cookie may live from now, in seconds. At least 0, which clears the cookie.
    func secondsLeft(of session: SessionSnapshot) -> Int64 {
        max(0, session.expiresAt - services.clock()) / 1000
    }

    /// Marks the session that a secret has just opened as used, which prolongs the session and its cookie.
    ///
    /// - Returns: the session with its new times.
    /// - Throws: a `SessionFault` where the session has ended since the secret was looked up.
    func use(_ session: SessionSnapshot, by secret: PresentedSecret) async throws -> SessionSnapshot {
        let used = try await services.runtime.find(id: session.id, proof: secret.proof)
        if secret.carrier == .cookie { setSessionCookie(secret.text, maxAge: secondsLeft(of: used)) }
        return used
    }
}
