import Runtime

/// Where secrets go: into a browser's cookies, or into the body.
package struct SecretDelivery: Sendable {
    private let call: APICall
    private let usesCookies: Bool
    private let usesBody: Bool

    /// - Parameters:
    ///   - bodyWanted: the body asks for `"deliver":"body"`.
    ///   - cameByCookie: the credential at hand came in a cookie: whoever keeps cookies gets the new one there too.
    package init(_ call: APICall, bodyWanted: Bool, cameByCookie: Bool = false) {
        self.call = call
        usesBody = bodyWanted || !call.facts.isBrowser
        usesCookies = !bodyWanted && (call.facts.isBrowser || cameByCookie)
    }

    /// Hands out a session secret.
    /// - Returns: what the body shows of it.
    func hand(_ secret: SessionSecret, of session: SessionSnapshot) -> String? {
        if usesCookies { call.setSessionCookie(secret.text, maxAge: call.secondsLeft(of: session)) }
        return usesBody ? secret.text : nil
    }

    /// Hands out a refresh token that is good until then (ms).
    /// - Returns: what the body shows of it.
    func hand(refreshToken: String, lifetime: Int64) -> String? {
        if usesCookies { call.setRefreshCookie(refreshToken, maxAge: lifetime / 1000) }
        return usesBody ? refreshToken : nil
    }
}

extension APICall {
    /// How long a session's cookie may live from now, in seconds.
    func secondsLeft(of session: SessionSnapshot) -> Int64 {
        max(0, session.expiresAt - services.clock()) / 1000
    }

    /// Uses the session that a secret has just opened: it lives longer from here on, and so does its cookie.
    func use(_ session: SessionSnapshot, by secret: PresentedSecret) async throws -> SessionSnapshot {
        let used = try await services.runtime.find(id: session.id, proof: secret.proof)
        if secret.carrier == .cookie { setSessionCookie(secret.text, maxAge: secondsLeft(of: used)) }
        return used
    }
}
