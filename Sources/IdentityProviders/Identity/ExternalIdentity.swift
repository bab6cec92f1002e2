import Encodings

/// A person as a provider describes them, read by the names and rules of the configuration.
package struct ExternalIdentity: Sendable, Equatable {
    /// The longest list of groups and the longest of them, in bytes.
    package static let maximumGroups = 100
    package static let maximumGroupBytes = 128
    static let maximumEmailBytes = 254
    static let maximumNameBytes = 256

    /// With the subject the identity: the issuer of the configuration.
    package let issuer: String
    /// 1…255 bytes without control characters.
    package let subject: String
    /// At most 254 bytes; nil where the provider tells none, or none of this form.
    package let email: String?
    /// Whether the provider says that the address is the person's, or is trusted to send no others.
    package let isEmailVerified: Bool
    /// What people are shown, at most 256 bytes; nil where the provider tells none.
    package let name: String?
    /// In the provider's order; see ``leftGroupsOut``.
    package let groups: [String]
    /// Whether groups were left out: too many, too long, or kept back by the provider.
    package let leftGroupsOut: Bool
    /// Scopes by `claims.scope`; empty without it.
    package let scopes: [String]
    /// The tenant, which the configuration believes the provider.
    package let tenant: String
    /// How strongly the person proved who they are (`acr`).
    package let acr: String?
    /// By what means (`amr`).
    package let amr: [String]
    /// When, in milliseconds since 1970 (`auth_time`).
    package let authenticatedAt: Int64?
    /// When the ID token was issued, in milliseconds since 1970 (`iat`).
    package let issuedAt: Int64?
    /// The provider's own session (`sid`), which back-channel logout names.
    package let providerSession: String?

    /// Reads claims, and judges whether the person may sign in.
    ///
    /// - Parameters:
    ///   - claims: of a verified ID token, with those of userinfo beneath them, or of an OAuth 2.0 API.
    ///   - provider: whose names and rules count.
    package static func read(
        _ claims: JSONObject, of provider: ProviderConfiguration
    ) -> Result<ExternalIdentity, IdentityRefusal> {
        let reader = ClaimReader(claims)
        do throws(IdentityRefusal) {
            let identity = ExternalIdentity(
                reader, provider, subject: try subject(reader, provider), tenant: try tenant(reader, provider))
            if let refusal = identity.refusal(by: provider.allowed, reader) { throw refusal }
            return .success(identity)
        } catch {
            return .failure(error)
        }
    }

    private init(_ reader: ClaimReader, _ provider: ProviderConfiguration, subject: String, tenant: String) {
        issuer = provider.issuer
        self.subject = subject
        self.tenant = tenant
        email = reader[provider.claims.email]?.stringValue.flatMap(Self.email)
        isEmailVerified = email != nil && (provider.trustEmail || Self.saysVerified(reader, provider))
        name = reader[provider.claims.name]?.stringValue.flatMap { text in
            (1...Self.maximumNameBytes).contains(text.utf8.count) && !text.hasControlCharacters ? text : nil
        }
        let groups = reader.texts(provider.claims.groups)
        self.groups = Array(groups.filter(Self.isGroup).prefix(Self.maximumGroups))
        leftGroupsOut = self.groups.count != groups.count || Self.keepsGroupsBack(reader, provider.claims.groups)
        scopes = provider.claims.scope.map { Self.scopes(reader.texts($0)) } ?? []
        acr = reader["acr"]?.stringValue.flatMap(Self.label)
        amr = Array(reader.texts("amr").compactMap(Self.label).prefix(16))
        authenticatedAt = reader["auth_time"]?.doubleValue.flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }
        issuedAt = reader["iat"]?.doubleValue.flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }
        providerSession = reader["sid"]?.stringValue.flatMap(Self.label)
    }

    // MARK: What decides

    private static func subject(
        _ reader: ClaimReader, _ provider: ProviderConfiguration
    ) throws(IdentityRefusal) -> String {
        let value = reader[provider.kind == .oidc ? "sub" : provider.subjectClaim]
        let text: String? =
            switch value {
            case .string(let text): text
            // GitHub's ids are numbers. A fraction or an exponent is no id.
            case .number(let number) where provider.kind == .oauth2: number.int64.map { String($0) }
            default: nil
            }
        guard let text, (1...IDTokenRules.maximumSubjectBytes).contains(text.utf8.count), !text.hasControlCharacters
        else { throw .subjectMalformed }
        return text
    }

    private static func tenant(
        _ reader: ClaimReader, _ provider: ProviderConfiguration
    ) throws(IdentityRefusal) -> String {
        switch provider.tenancy {
        case .fixed(let tenant): return tenant
        case .claim(let name, let values):
            // One value, and a string: of a list it would be a guess which one is meant.
            guard let said = reader[name]?.stringValue,
                let listed = values.first(where: { $0.hasSameBytes(as: said) })
            else { throw .tenantNotListed }
            return listed
        }
    }

    private func refusal(by allowed: AllowedPersons, _ reader: ClaimReader) -> IdentityRefusal? {
        if !allowed.emailDomains.isEmpty {
            guard let email, isEmailVerified else { return .emailNotVerified }
            guard let domain = EmailDomain(of: email), allowed.emailDomains.contains(where: domain.isSame) else {
                return .emailDomainNotAllowed
            }
        }
        if !allowed.groups.isEmpty {
            guard groups.contains(where: { group in allowed.groups.contains { $0.hasSameBytes(as: group) } }) else {
                return .groupNotAllowed
            }
        }
        for (name, values) in allowed.claims {
            guard reader.texts(name).contains(where: { text in values.contains { $0.hasSameBytes(as: text) } }) else {
                return .claimNotAllowed
            }
        }
        return nil
    }

    // MARK: What describes

    /// Whether `email_verified` is JSON's true; the text of it is no boolean (OpenID Connect Core 1.0 §5.1) and does not
    /// count. It speaks of `email`, so it counts for no claim of another name; with a list of addresses it is what the
    /// list says.
    private static func saysVerified(_ reader: ClaimReader, _ provider: ProviderConfiguration) -> Bool {
        guard provider.claims.email.hasSameBytes(as: "email") || provider.emailsEndpoint != nil else { return false }
        return reader.claims["email_verified"] == .bool(true)
    }

    /// Exactly `local@domain`, without white space and control characters.
    static func email(_ text: String) -> String? {
        guard (3...maximumEmailBytes).contains(text.utf8.count), EmailDomain(of: text) != nil,
            text.utf8.first != UInt8(ascii: "@"), text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        return text
    }

    private static func isGroup(_ text: String) -> Bool {
        (1...maximumGroupBytes).contains(text.utf8.count) && !text.hasControlCharacters
    }

    /// Entra ID names the claim elsewhere when there are too many groups (`hasgroups`, `_claim_names`).
    private static func keepsGroupsBack(_ reader: ClaimReader, _ name: String) -> Bool {
        reader["hasgroups"] != nil || reader.claims["_claim_names"]?.objectValue?[name] != nil
    }

    private static func scopes(_ texts: [String]) -> [String] {
        let words = texts.flatMap { $0.utf8.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) } }
        return Array(
            words.filter { word in
                word.utf8.count <= 128
                    && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            }.prefix(64))
    }

    private static func label(_ text: String) -> String? {
        (1...255).contains(text.utf8.count) && !text.hasControlCharacters ? text : nil
    }
}

/// Why a person whom the provider knows may not sign in: the answer is `login_refused`, the reason is for the log.
package enum IdentityRefusal: String, Error, Sendable, CaseIterable {
    case subjectMalformed = "subject_malformed"
    case tenantNotListed = "tenant_not_listed"
    case emailNotVerified = "email_not_verified"
    case emailDomainNotAllowed = "email_domain_not_allowed"
    case groupNotAllowed = "group_not_allowed"
    case claimNotAllowed = "claim_not_allowed"
}

/// The domain of an e-mail address, compared without case and as a whole: `example.com` is neither a subdomain's
/// parent nor a suffix.
private struct EmailDomain {
    private let lowered: [UInt8]

    init?(of email: String) {
        let parts = email.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        lowered = parts[1].map(Self.lower)
    }

    func isSame(as other: String) -> Bool { other.utf8.map(Self.lower) == lowered }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
