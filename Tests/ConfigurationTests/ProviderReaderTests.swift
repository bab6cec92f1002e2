import EdgeConfiguration
import IdentityProviders
import Testing

@testable import gatehouse

@Suite("Identity providers in the file")
struct ProviderReaderTests {
    private static let keycloak = """
        identity_providers:
          - name: keycloak
            issuer: https://idp.example/realms/acme
            client_id: gate
        """

    /// The faults of the entry with these lines behind it.
    private func faults(_ lines: String..., environment: [String: String] = [:]) -> [String] {
        let yaml = Self.keycloak + "\n" + lines.map { "    " + $0 }.joined(separator: "\n") + "\n"
        let files = ["secret": "from-the-file\n", "g.yaml": yaml]
        let loader = ConfigurationLoader(environment: environment) { path throws(ConfigurationFault) in
            files[path].map { Array($0.utf8) }
        }
        do throws(ConfigurationFaults) {
            _ = try loader.load(file: "g.yaml")
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test("An entry says what it needs; the rest has its defaults")
    func defaults() throws {
        let loaded = try load(Self.keycloak + "\n    client_secret: s3cret\n").configuration.identityProviders
        var expected = IdentityProviderConfiguration(
            name: "keycloak", issuer: "https://idp.example/realms/acme", clientID: "gate")
        expected.clientSecret = .init("s3cret")
        #expect(loaded == [expected])
        let provider = try #require(loaded.first?.resolved(secret: .init("s3cret")).provider)
        #expect(provider.scopes == ["openid", "email", "profile"] && provider.tenancy == .fixed("default"))
        #expect(provider.displayName == "keycloak" && provider.clientAuthentication.method == .secretBasic)
    }

    @Test("Everything that can be said is read")
    func everything() throws {
        let yaml = """
            identity_providers:
              - name: a-1
                display_name: The Company
                issuer: https://idp.example
                client_id: gate
                client_authentication: private_key_jwt
                scopes: [openid, groups]
                tenant_claim: org.id
                tenants: [acme, other]
                claims: {email: mail, name: cn, groups: realm_access.roles, scope: permissions}
                allowed:
                  email_domains: [example.com]
                  groups: [staff]
                  claims: {hd: [example.com, example.org], level: gold}
                link_verified_email: true
                trust_email: true
                userinfo: true
                accept_tokens: true
                allow_private: true
              - {name: github, preset: github, client_id: gh, client_secret: x, tenant: acme}
              - name: plain
                kind: oauth2
                issuer: https://old.example
                client_id: c
                client_authentication: none
                authorization_endpoint: https://old.example/authorize
                token_endpoint: https://old.example/token
                userinfo_endpoint: https://old.example/me
                subject_claim: uid
            """
        let providers = try load(yaml).configuration.identityProviders
        let resolved = providers.compactMap { $0.resolved(secret: $0.clientSecret).provider }
        #expect(resolved.map(\.name) == ["a-1", "github", "plain"])
        let first = try #require(resolved.first)
        #expect(first.tenancy == .claim("org.id", values: ["acme", "other"]) && first.scopes == ["openid", "groups"])
        #expect(
            first.claims == ClaimNames(email: "mail", name: "cn", groups: "realm_access.roles", scope: "permissions"))
        #expect(
            first.allowed
                == AllowedPersons(
                    emailDomains: ["example.com"], groups: ["staff"],
                    claims: [("hd", ["example.com", "example.org"]), ("level", ["gold"])]))
        #expect(first.linkVerifiedEmail && first.trustEmail && first.asksUserInfo && first.acceptsTokens)
        #expect(first.clientAuthentication.method == .privateKeyJWT && first.allowsPrivate)
        #expect(resolved[1].kind == .oauth2 && resolved[1].displayName == "GitHub" && resolved[1].subjectClaim == "id")
        #expect(resolved[1].tenancy == .fixed("acme"))
        #expect(resolved[2].scopes.isEmpty && resolved[2].subjectClaim == "uid")
        // What is shown is read again as the same, but for the secrets.
        let shown = ConfigurationText.yaml(try load(yaml).configuration)
        #expect(shown.contains("client_secret: redacted") && shown.contains("claims: {hd: [example.com, example.org]"))
        var expected = providers
        expected[1].clientSecret = .init("redacted")
        #expect(try load(shown).configuration.identityProviders == expected)
    }

    @Test("The secret comes from the entry, a file or the environment, and from one of them alone")
    func secrets() throws {
        let variable = "GATEHOUSE_IDENTITY_PROVIDERS_KEYCLOAK_CLIENT_SECRET"
        #expect(faults("client_secret_file: secret").isEmpty)
        #expect(faults(environment: [variable: "x"]).isEmpty)
        let loaded = try load(Self.keycloak, environment: [variable: "from outside"])
        #expect(loaded.configuration.identityProviders.first?.clientSecret == .init("from outside"))
        #expect(loaded.warnings.isEmpty)
        #expect(!ConfigurationText.yaml(loaded.configuration).contains("from outside"))
        #expect(
            faults() == [
                "g.yaml:2:5: identity_providers[0].client_secret: needed: client_secret, client_secret_file or "
                    + "\(variable); or another client_authentication"
            ])
        #expect(
            faults("client_secret_file: none") == [
                "g.yaml:5:25: identity_providers[0].client_secret_file: the file: no such file: correct the path, "
                    + "or create it"
            ])
        #expect(faults("client_secret: a", "client_secret_file: secret").count == 1)
        #expect(faults("client_secret: a", environment: [variable: "b"]).count == 1)
        #expect(faults("client_secret: a", "client_authentication: none").count == 1)
        let dashed = IdentityProviderConfiguration(name: "my-idp", issuer: "", clientID: "")
        #expect(dashed.secretVariable == "GATEHOUSE_IDENTITY_PROVIDERS_MY_IDP_CLIENT_SECRET")
        #expect(IdentityProviderConfiguration.Secret(file: Array("x\n\n".utf8)).text == "x\n")
    }

    @Test("A fault names its line, its key and what would be right; a secret is never quoted")
    func places() {
        let secret = "client_secret: a"
        #expect(
            faults(secret, "tenants: [a]") == [
                "g.yaml:6:14: identity_providers[0].tenants: only with tenant_claim: "
                    + "it lists the values that are believed"
            ])
        #expect(
            faults(secret, "scopes: [email]") == [
                "g.yaml:6:13: identity_providers[0].scopes: "
                    + "openid must be among them: without it there is no ID token"
            ])
        for domain in ["@example.com", "*"] {
            #expect(
                faults(secret, "allowed:", "  email_domains: ['\(domain)']") == [
                    "g.yaml:7:22: identity_providers[0].allowed.email_domains: domains alone, without @ and *"
                ])
        }
        #expect(
            faults(secret, "tennant: a").first
                == "g.yaml:6:5: unknown key 'identity_providers[0].tennant': did you mean 'identity_providers[0].tenant'?"
        )
        #expect(faults(secret, "tenant: a", "tenant_claim: b", "tenants: [c]").count == 1)
        #expect(
            faults(secret, "kind: saml") == [
                "g.yaml:6:11: identity_providers[0].kind: expected oidc or oauth2, found 'saml'"
            ])
        let wrong = faults("client_secret: 'b\u{E9}d secret'")
        #expect(wrong.count == 1 && !wrong[0].contains("secret'"))
        #expect(
            gatehouseFaults("identity_providers: [{name: A, client_id: c, issuer: 'http://idp.example'}]").count == 3)
        #expect(gatehouseFaults("identity_providers: [{issuer: 'https://idp.example'}]").count == 2)
        let twice = Self.keycloak + "\n    client_secret: a\n"
        let second = twice.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(
            gatehouseFaults(twice + second) == [
                "g.yaml:6:11: identity_providers[1].name: the same name twice: give each provider its own"
            ])
    }

    private func gatehouseFaults(_ yaml: String) -> [String] { gatehouse_faults(yaml) }
}

/// The fixture's function, which has the name of a method here.
private func gatehouse_faults(_ yaml: String) -> [String] { faults(yaml) }
