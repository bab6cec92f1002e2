import EdgeConfiguration

/// The keys of one entry of `identity_providers`.
enum ProviderSettings {
    /// In the order in which an entry is shown.
    static let all: [Setting<IdentityProviderConfiguration>] = [
        .one("name", \.name, .text("1 to 32 of a-z, 0-9 and -")),
        .maybe("preset", \.preset, .word),
        .maybe("display_name", \.displayName, .text("a name for people")),
        .maybe("kind", \.kind, .word),
        .maybe("issuer", \.issuer, .text("a URL, as the provider writes it")),
        .one("client_id", \.clientID, .text("the name that the provider has for the gateway")),
        .maybe("client_secret", \.clientSecret, .clientSecret),
        .maybe("client_secret_file", \.clientSecretFile, .text("the path of a file")),
        .maybe("client_authentication", \.clientAuthentication, .word),
        .optionalList("scopes", \.scopes, .scope),
        .maybe("tenant", \.tenant, .tenant),
        .maybe("tenant_claim", \.tenantClaim, .text("the name of a claim")),
        .list("tenants", \.tenants, .tenant),
        .one("claims.email", \.claims.email, .text("the name of a claim")),
        .one("claims.name", \.claims.name, .text("the name of a claim")),
        .one("claims.groups", \.claims.groups, .text("the name of a claim")),
        .maybe("claims.scope", \.claims.scope, .text("the name of a claim"), missing: "none"),
        .oneOrMore(
            "allowed.email_domains", \.allowed.emailDomains, .text("a domain"), orOne: false, leftOut: "any"),
        .oneOrMore("allowed.groups", \.allowed.groups, .text("a group"), orOne: false, leftOut: "any"),
        allowedClaims,
        .one("link_verified_email", \.linkVerifiedEmail, .flag),
        .one("trust_email", \.trustEmail, .flag),
        .one("userinfo", \.userInfo, .flag),
        .one("accept_tokens", \.acceptTokens, .flag),
        .one("allow_private", \.allowPrivate, .flag),
        .maybe("authorization_endpoint", \.authorizationEndpoint, .text("a URL")),
        .maybe("token_endpoint", \.tokenEndpoint, .backChannel),
        .maybe("userinfo_endpoint", \.userInfoEndpoint, .backChannel),
        .maybe("emails_endpoint", \.emailsEndpoint, .backChannel),
        .maybe("subject_claim", \.subjectClaim, .text("the name of a claim")),
    ]

    /// `allowed.claims`: a mapping of names of claims to the values that let a person in.
    private static let allowedClaims = Setting<IdentityProviderConfiguration>(
        key: "allowed.claims", shape: .lists,
        set: { provider, entries throws(Complaint) in
            guard !entries.isEmpty else { throw Complaint.emptyList(leftOut: "any") }
            var rules: [IdentityProviderConfiguration.ClaimRule] = []
            for entry in entries {
                let name = entry.name ?? ""
                if let place = rules.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
                    rules[place].values.append(entry.text)
                } else {
                    rules.append(.init(name: name, values: [entry.text]))
                }
            }
            provider.allowed.claims = rules
        },
        show: { provider in
            let rules = provider.allowed.claims
            return rules.isEmpty ? nil : .lists(rules.map { NamedTexts(name: $0.name, texts: $0.values) })
        })
}

extension ValueFormat where Value == String {
    /// A URL of the provider that the gateway calls and browsers do not see.
    fileprivate static var backChannel: Self {
        let plain = text("a URL")
        return Self(expects: plain.expects, read: plain.read, write: { URLText.withoutValues($0) }, isSecret: true)
    }
}

extension ValueFormat where Value == IdentityProviderConfiguration.Secret {
    /// A client secret, which is never shown.
    static var clientSecret: Self {
        Self(
            expects: "1 to 1024 characters of ASCII",
            read: { text in
                let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
                return (1...1024).contains(text.utf8.count) && isPlain ? .init(text) : nil
            }, write: { _ in "redacted" }, isSecret: true)
    }
}
