import Encodings

/// A sign-in that begins: where the browser is sent, and what is stored meanwhile.
package struct AuthorizationRequest: Sendable {
    /// The `Location` of the 303.
    package let location: String
    /// To be stored before the browser is sent away.
    package let pending: PendingLogin

    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - provider: where.
    ///   - endpoint: the authorization endpoint: of discovery, or of the configuration.
    ///   - redirectURI: ``redirectURI(issuer:provider:)``.
    ///   - session: of the browser.
    ///   - returnTo: where the person wants to be afterwards.
    ///   - hints: judged before; see ``LoginHints/isSound``.
    ///   - now: milliseconds since 1970.
    package init(
        to provider: ProviderConfiguration, at endpoint: EndpointURL, redirectURI: String, session: BrowserSession,
        returnTo: ReturnTo, hints: LoginHints = LoginHints(), now: Int64
    ) {
        self.init(
            to: provider, at: endpoint, redirectURI: redirectURI, session: session, returnTo: returnTo, hints: hints,
            now: now, secrets: LoginSecrets(for: session))
    }

    init(
        to provider: ProviderConfiguration, at endpoint: EndpointURL, redirectURI: String, session: BrowserSession,
        returnTo: ReturnTo, hints: LoginHints, now: Int64, secrets: LoginSecrets
    ) {
        pending = PendingLogin(
            stateHash: PendingLogin.hash(ofState: secrets.state), provider: provider.name, issuer: provider.issuer,
            sessionID: session.sessionID, sessionEpoch: session.epoch, codeChallenge: secrets.codeChallenge,
            returnTo: returnTo, maximumAge: hints.maximumAge, createdAt: now)
        var parameters = [
            FormParameter("response_type", "code"), FormParameter("client_id", provider.clientID),
            FormParameter("redirect_uri", redirectURI),
            FormParameter("scope", provider.scopes.joined(separator: " ")), FormParameter("state", secrets.state),
            FormParameter("code_challenge", secrets.codeChallenge), FormParameter("code_challenge_method", "S256"),
        ]
        if provider.kind == .oidc { parameters.append(FormParameter("nonce", secrets.nonce)) }
        if let prompt = hints.prompt { parameters.append(FormParameter("prompt", prompt)) }
        if let loginHint = hints.loginHint { parameters.append(FormParameter("login_hint", loginHint)) }
        if let maximumAge = hints.maximumAge { parameters.append(FormParameter("max_age", String(maximumAge))) }
        if !hints.acrValues.isEmpty {
            parameters.append(FormParameter("acr_values", hints.acrValues.joined(separator: " ")))
        }
        location = endpoint.adding(parameters)
    }

    /// The redirection endpoint of a provider: each has its own, so that one provider's answer can't be taken for
    /// another's (RFC 9700 §4.4.2.2).
    ///
    /// - Parameter issuer: `tokens.issuer`; never anything that a request says.
    package static func redirectURI(issuer: String, provider: String) -> String {
        let base = issuer.utf8.last == UInt8(ascii: "/") ? String(issuer.dropLast()) : issuer
        return base + "/api/auth/callback/" + provider
    }
}
