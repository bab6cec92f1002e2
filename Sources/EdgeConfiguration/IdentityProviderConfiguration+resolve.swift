import IdentityProviders

extension IdentityProviderConfiguration {
    /// What is wrong with an entry: the key within it, and one sentence.
    package typealias Fault = (key: String, sentence: String)

    /// The provider as the module `IdentityProviders` knows it, or everything that is wrong with the entry.
    ///
    /// - Parameter secret: the client's secret, from wherever it comes; nil if there is none.
    package func resolved(secret: Secret?) -> (provider: ProviderConfiguration?, faults: [Fault]) {
        let method = clientAuthentication ?? .secretBasic
        let authentication = authentication(method, secret)
        var provider = ProviderConfiguration(
            name: name, issuer: issuer ?? "", clientID: clientID, clientAuthentication: authentication ?? .none)
        if let preset = preset.flatMap({ ProviderPreset(rawValue: $0.rawValue) }) { preset.apply(to: &provider) }
        fill(&provider)
        var faults: [Fault] = []
        if authentication == nil { faults.append(secretFault(method, secret)) }
        if tenant != nil, tenantClaim != nil {
            faults.append(("tenant", "a fixed tenant or tenant_claim, not both"))
        }
        if tenantClaim == nil, !tenants.isEmpty {
            faults.append(("tenants", "only with tenant_claim: it lists the values that are believed"))
        }
        faults += provider.faults().map { ($0.key, $0.sentence) }
        return (faults.isEmpty ? provider : nil, faults)
    }

    /// Sets what the entry says itself.
    private func fill(_ provider: inout ProviderConfiguration) {
        if let displayName { provider.displayName = displayName }
        if let kind { provider.kind = kind == .oidc ? .oidc : .oauth2 }
        if let issuer { provider.issuer = issuer }
        if let scopes {
            provider.scopes = scopes
        } else if provider.kind == .oauth2, preset == nil {
            // `openid` asks for OpenID Connect, which this provider does not speak.
            provider.scopes = []
        }
        if let tenantClaim {
            provider.tenancy = .claim(tenantClaim, values: tenants)
        } else if let tenant {
            provider.tenancy = .fixed(tenant)
        }
        provider.claims = ClaimNames(
            email: claims.email, name: claims.name, groups: claims.groups, scope: claims.scope)
        provider.allowed = AllowedPersons(
            emailDomains: allowed.emailDomains, groups: allowed.groups,
            claims: allowed.claims.map { ($0.name, $0.values) })
        provider.linkVerifiedEmail = linkVerifiedEmail
        provider.trustEmail = trustEmail
        provider.asksUserInfo = userInfo
        provider.acceptsTokens = acceptTokens
        provider.allowsPrivate = allowPrivate
        if let authorizationEndpoint { provider.authorizationEndpoint = authorizationEndpoint }
        if let tokenEndpoint { provider.tokenEndpoint = tokenEndpoint }
        if let userInfoEndpoint { provider.userInfoEndpoint = userInfoEndpoint }
        if let emailsEndpoint { provider.emailsEndpoint = emailsEndpoint }
        if let subjectClaim { provider.subjectClaim = subjectClaim }
    }

    private func authentication(
        _ method: ClientAuthentication, _ secret: Secret?
    ) -> IdentityProviders.ClientAuthentication? {
        guard let method = IdentityProviders.ClientAuthentication.Method(rawValue: method.rawValue) else { return nil }
        guard let secret else { return IdentityProviders.ClientAuthentication(method, secret: nil) }
        guard let known = ClientSecret(secret.text) else { return nil }
        return IdentityProviders.ClientAuthentication(method, secret: known)
    }

    private func secretFault(_ method: ClientAuthentication, _ secret: Secret?) -> Fault {
        let needed = method == .secretBasic || method == .secretPost
        switch secret {
        case nil:
            return (
                "client_secret",
                "needed: client_secret, client_secret_file or \(secretVariable); or another client_authentication"
            )
        case _? where !needed: return ("client_secret", "\(method.rawValue) has no use for a secret: remove it")
        case _?: return ("client_secret", "1 to 1024 characters of ASCII without control characters")
        }
    }

    /// The environment variable with the secret.
    package var secretVariable: String {
        let name = name.uppercased().map { $0 == "-" ? "_" : $0 }
        return "GATEHOUSE_IDENTITY_PROVIDERS_\(String(name))_CLIENT_SECRET"
    }
}

extension IdentityProviderConfiguration.Secret {
    /// The secret in a file: everything but one final newline.
    package init(file bytes: [UInt8]) {
        var bytes = bytes[...]
        if bytes.last == 0x0A { bytes.removeLast() }
        if bytes.last == 0x0D { bytes.removeLast() }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}
