import Encodings

/// What is wrong with an entry of `identity_providers`: the key, and one sentence how to mend it.
package struct ProviderConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The key within the entry.
    package let key: String
    /// One sentence.
    package let sentence: String

    init(_ key: String, _ sentence: String) {
        self.key = key
        self.sentence = sentence
    }

    /// Key and sentence.
    package var description: String { "\(key): \(sentence)" }
}

extension ProviderConfiguration {
    /// Everything that is wrong with the entry, in the order of its keys; empty if it can be used.
    package func faults() -> [ProviderConfigurationFault] {
        nameFaults() + clientFaults() + issuerFaults() + endpointFaults() + scopeFaults() + tenancyFaults()
            + claimFaults() + allowedFaults()
    }

    private func nameFaults() -> [ProviderConfigurationFault] {
        let isName =
            (1...32).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        var faults: [ProviderConfigurationFault] = []
        if !isName { faults.append(.init("name", "1 to 32 of a-z, 0-9 and -")) }
        if displayName.utf8.isEmpty || displayName.utf8.count > 128 || displayName.hasControlCharacters {
            faults.append(.init("display_name", "1 to 128 bytes without control characters"))
        }
        return faults
    }

    private func clientFaults() -> [ProviderConfigurationFault] {
        guard (1...512).contains(clientID.utf8.count), clientID.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return [.init("client_id", "1 to 512 characters of ASCII, as the provider gave it")]
        }
        return []
    }

    private func issuerFaults() -> [ProviderConfigurationFault] {
        if kind == .oauth2 {
            // Nothing is fetched from it: it only names the place that subjects are of.
            let isName = (1...255).contains(issuer.utf8.count) && issuer.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return isName ? [] : [.init("issuer", "a name of 1 to 255 characters of ASCII without spaces")]
        }
        guard let url = EndpointURL(issuer), !url.hasQuery else {
            return [.init("issuer", "an absolute URL without query and fragment, as the provider writes it")]
        }
        guard url.isSecure else { return [.init("issuer", "https, or http on loopback")] }
        return []
    }

    private func endpointFaults() -> [ProviderConfigurationFault] {
        let endpoints = [
            ("authorization_endpoint", authorizationEndpoint, true), ("token_endpoint", tokenEndpoint, true),
            ("userinfo_endpoint", userInfoEndpoint, true), ("emails_endpoint", emailsEndpoint, false),
        ]
        if kind == .oidc {
            return endpoints.compactMap { key, value, _ in
                value == nil
                    ? nil : .init(key, "only with kind: oauth2; OpenID Connect finds its endpoints by discovery")
            }
        }
        return endpoints.compactMap { key, value, isNeeded in
            guard let value else { return isNeeded ? .init(key, "needed with kind: oauth2") : nil }
            return EndpointURL(value)?.isSecure == true ? nil : .init(key, "an https URL, or http on loopback")
        }
    }

    private func scopeFaults() -> [ProviderConfigurationFault] {
        let areTokens =
            scopes.count <= 64
            && scopes.allSatisfy { scope in
                (1...128).contains(scope.utf8.count)
                    && scope.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            }
        guard areTokens else { return [.init("scopes", "a list of scopes without spaces (RFC 6749 §3.3)")] }
        if kind == .oidc, !scopes.contains(where: { $0.hasSameBytes(as: "openid") }) {
            return [.init("scopes", "openid must be among them: without it there is no ID token")]
        }
        return []
    }

    private func tenancyFaults() -> [ProviderConfigurationFault] {
        switch tenancy {
        case .fixed(let tenant): Self.isTenant(tenant) ? [] : [.init("tenant", "not a tenant's name")]
        case .claim(let claim, let values):
            if claim.utf8.isEmpty {
                [.init("tenant_claim", "the name of a claim")]
            } else if values.isEmpty {
                [.init("tenants", "the values of tenant_claim that are accepted: without any, no user can sign in")]
            } else {
                values.allSatisfy(Self.isTenant) ? [] : [.init("tenants", "an entry is not a tenant's name")]
            }
        }
    }

    private func claimFaults() -> [ProviderConfigurationFault] {
        let names = [
            ("claims.email", claims.email), ("claims.name", claims.name), ("claims.groups", claims.groups),
            ("claims.scope", claims.scope ?? "-"), ("subject_claim", subjectClaim),
        ]
        var faults = names.filter { $0.1.utf8.isEmpty || $0.1.utf8.count > 256 }
            .map { ProviderConfigurationFault($0.0, "the name of a claim") }
        if kind == .oidc, !subjectClaim.hasSameBytes(as: "sub") {
            faults.append(.init("subject_claim", "only with kind: oauth2; the subject of an ID token is sub"))
        }
        if kind == .oauth2, acceptsTokens {
            faults.append(.init("accept_tokens", "only for OpenID Connect: OAuth 2.0 alone has no tokens to verify"))
        }
        return faults
    }

    private func allowedFaults() -> [ProviderConfigurationFault] {
        var faults: [ProviderConfigurationFault] = []
        // They are compared exactly, so `*` would match none.
        let isDomain = { (text: String) in !text.isEmpty && !text.utf8.contains { "@*".utf8.contains($0) } }
        if !allowed.emailDomains.allSatisfy(isDomain) {
            faults.append(.init("allowed.email_domains", "domains alone, without @ and *"))
        }
        for (name, values) in allowed.claims where name.utf8.isEmpty || values.isEmpty {
            faults.append(.init("allowed.claims", "the name of a claim and the list of its values"))
            break
        }
        return faults
    }

    /// 1…64 of letters, digits, `.`, `_`, `-`, as everywhere.
    private static func isTenant(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && Base64URL.isAlphabet(text.utf8.filter { $0 != UInt8(ascii: ".") })
    }
}

extension String {
    /// Whether a C0 or C1 control character, or DEL, is among the characters.
    var hasControlCharacters: Bool {
        unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
