import Encodings

/// What a sign-in may ask of the provider besides who it is.
package struct LoginHints: Sendable, Equatable {
    /// `prompt`: `none`, `login`, `consent` or `select_account`, or several with spaces between them.
    package var prompt: String?
    /// `login_hint`: what the person typed.
    package var loginHint: String?
    /// `max_age`: the most seconds since the person last proved who they are.
    package var maximumAge: Int64?
    /// `acr_values`: the strengths that are asked for, the preferred first.
    package var acrValues: [String]

    /// Creates hints; without arguments nothing is asked for.
    package init(prompt: String? = nil, loginHint: String? = nil, maximumAge: Int64? = nil, acrValues: [String] = []) {
        self.prompt = prompt
        self.loginHint = loginHint
        self.maximumAge = maximumAge
        self.acrValues = acrValues
    }

    /// Whether all of them can be sent on.
    package var isSound: Bool {
        let prompts = ["none", "login", "consent", "select_account"]
        let asked = prompt?.utf8.split(separator: 0x20, omittingEmptySubsequences: false) ?? []
        let arePrompts = asked.allSatisfy { word in prompts.contains { word.elementsEqual($0.utf8) } }
        // `none` stands alone (OpenID Connect Core 1.0 §3.1.2.1).
        let isAlone = asked.count < 2 || !asked.contains { $0.elementsEqual("none".utf8) }
        return arePrompts && isAlone && loginHint.map { $0.utf8.count <= 256 && !$0.hasControlCharacters } ?? true
            && maximumAge.map { (0...31_536_000).contains($0) } ?? true && acrValues.count <= 8
            && acrValues.allSatisfy {
                (1...256).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            }
    }
}

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
