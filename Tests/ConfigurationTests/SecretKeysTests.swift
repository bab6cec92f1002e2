import AdminAPI
import EdgeConfiguration
import Testing

@testable import gatehouse

/// A new key is shown as it was given only if it is listed here.
@Suite("Keys with secrets")
struct SecretKeysTests {
    /// Texts that keys of all kinds take. What of them may be secret is asked below.
    private static let texts = [
        "hunter2", "/hunter2", "hunter2.example", "https://hunter2.example", "unix:/hunter2", "sqlite:hunter2",
    ]

    private static func showsText<Root>(_ setting: Setting<Root>, of root: Root) -> Bool {
        texts.contains { text in
            var root = root
            do {
                try setting.set(&root, [SettingEntry(name: "X-Name", text: text)])
            } catch {
                return false
            }
            let shown = setting.show(root).map { ConfigurationText.text(of: $0) } ?? ""
            return shown.lowercased().contains("hunter2")
        }
    }

    private static func shown<Root>(_ settings: [Setting<Root>], of root: Root) -> Set<String> {
        Set(settings.filter { showsText($0, of: root) }.map(\.key))
    }

    @Test("Texts are shown of these keys of the configuration, and of no others")
    func keys() {
        #expect(
            Self.shown(GatewaySettings.all, of: ConfigurationDraft()) == [
                "server.listen", "server.admin", "server.allowed_origins", "server.hosts", "server.tls.certificate",
                "server.tls.key", "server.tls.client_ca", "state.url", "state.url_file",
                "keys.directory", "keys.passphrase_file", "tokens.issuer", "tokens.audience", "runtime.url",
                "accounts.registration_tenants", "accounts.default_tenant", "accounts.default_scope", "clients.ca",
                "passkeys.rp_id", "log.access", "audit.file", "tracing.otlp",
            ])
        #expect(
            Self.shown(RouteSettings.all, of: RouteConfiguration(path: "/")) == [
                "path", "host", "methods", "upstream", "upstream_ca", "upstream_name", "upstream_certificate",
                "upstream_key", "scopes", "allow.scopes_any", "allow.groups", "allow.email_domains", "allow.clients",
                "allow.tenants", "acr", "audience", "login_url", "health.path", "resource.name", "resource.scopes",
                "resource.documentation", "resource.authorization_servers",
            ])
        #expect(
            Self.shown(IssuerSettings.all, of: IssuerConfiguration(issuer: "", jwks: "", audience: [])) == [
                "issuer", "jwks", "audience", "tenants", "scopes",
            ])
        #expect(Self.shown(EventSettings.all, of: EventReceiverConfiguration(url: "", events: [])) == ["url"])
        #expect(
            Self.shown(ProviderSettings.all, of: IdentityProviderConfiguration(name: "", issuer: "", clientID: "")) == [
                "name", "display_name", "issuer", "client_id", "client_secret_file", "scopes", "tenant",
                "tenant_claim", "tenants", "claims.email", "claims.name", "claims.groups", "claims.scope",
                "allowed.email_domains", "allowed.groups", "allowed.claims", "authorization_endpoint",
                "token_endpoint", "userinfo_endpoint", "emails_endpoint", "subject_claim",
            ])
    }

    /// Texts with a secret where keys of some kind may have one.
    private static let secretTexts = [
        "hunter2", "/x?k=hunter2", "https://h.example/x?k=hunter2", "https://u:hunter2@h.example/x",
        "postgres://u:hunter2@h/d",
    ]

    /// Whether the key takes a text with a secret and shows its value without it.
    private static func redacts<Root>(_ setting: Setting<Root>, of root: Root) -> Bool {
        secretTexts.contains { text in
            var root = root
            do {
                try setting.set(&root, [SettingEntry(name: "X-Name", text: text)])
            } catch {
                return false
            }
            let shown = setting.show(root).map { ConfigurationText.text(of: $0) } ?? ""
            // Methods are shown in upper case.
            return !shown.lowercased().contains("hunter2")
        }
    }

    /// The redacted keys, by whether there is a form in which a file holds the value.
    private static func redacted<Root>(
        _ settings: [Setting<Root>], of root: Root, more: Set<String> = []
    ) -> (all: Set<String>, withoutFile: Set<String>) {
        let all = Set(settings.filter { redacts($0, of: root) }.map(\.key))
        let forms = more.union(settings.map(\.key))
        return (all, all.filter { !forms.contains($0 + "_file") })
    }

    @Test("Each key that config show redacts has a form in which a file holds the value")
    func fileForms() {
        let general = Self.redacted(GatewaySettings.all, of: ConfigurationDraft())
        let routes = Self.redacted(
            RouteSettings.all, of: RouteConfiguration(path: "/"), more: SecretFiles.names(for: RouteSettings.all))
        let issuers = Self.redacted(
            IssuerSettings.all, of: IssuerConfiguration(issuer: "", jwks: nil, audience: []),
            more: SecretFiles.names(for: IssuerSettings.all))
        let events = Self.redacted(
            EventSettings.all, of: EventReceiverConfiguration(url: "", events: []),
            more: SecretFiles.names(for: EventSettings.all))
        let providers = Self.redacted(
            ProviderSettings.all, of: IdentityProviderConfiguration(name: "", issuer: "", clientID: ""),
            more: SecretFiles.names(for: ProviderSettings.all))
        #expect(general.all == ["state.url"])
        #expect(routes.all == ["headers", "health.path"])
        #expect(issuers.all == ["jwks"] && events.all == ["url"])
        #expect(
            providers.all == ["client_secret", "token_endpoint", "userinfo_endpoint", "emails_endpoint"])
        for found in [general, routes, issuers, events, providers] { #expect(found.withoutFile.isEmpty, "\(found)") }
    }

    @Test("No secret of a key is shown, wherever it was given", arguments: ["file", "variable", "named file"])
    func secrets(_ way: String) throws {
        let url = "postgres://u:hunter2@h/d?sslpassword=hunter2"
        let (state, secret) =
            switch way {
            case "file": ("{url: '\(url)'}", "client_secret: hunter2")
            case "named file": ("{url_file: url.txt}", "client_secret_file: secret.txt")
            default: ("{}", "scopes: [openid]")
            }
        let yaml = """
            state: \(state)
            routes:
              - path: /a
                upstream: http://127.0.0.1:1
                headers: {X-Api-Key: hunter2}
                health: {path: '/health?auth=hunter2'}
            issuers:
              - issuer: https://i.example
                audience: [a]
                tenants: [t]
                jwks: https://u:hunter2@i.example/keys?sig=hunter2
            events: [{url: 'https://h.example:8443/hooks/hunter2?sig=hunter2', events: [session.ended]}]
            identity_providers:
              - name: company
                kind: oauth2
                issuer: https://i.example
                client_id: gatehouse
                \(secret)
                authorization_endpoint: https://i.example/authorize
                token_endpoint: https://i.example/token?key=hunter2
                userinfo_endpoint: https://i.example/userinfo?key=hunter2
            """
        var environment: [String: String] = [:]
        if way == "variable" {
            environment["GATEHOUSE_STATE_URL"] = url
            environment["GATEHOUSE_IDENTITY_PROVIDERS_COMPANY_CLIENT_SECRET"] = "hunter2"
            environment["GATEHOUSE_KEYS_PASSPHRASE"] = "hunter2"
        }
        let files = ["g.yaml": yaml, "url.txt": url + "\n", "secret.txt": "hunter2\n"]
        let loader = ConfigurationLoader(environment: environment) { path throws(ConfigurationFault) in
            files[path].map { Array($0.utf8) }
        }
        let loaded = try loader.load(file: "g.yaml", flags: [])
        #expect(loaded.configuration.state.url == url)
        let shown = ConfigurationText.yaml(loaded.configuration)
        #expect(!shown.contains("hunter2"), "\(shown)")
        #expect(shown.contains("postgres://u:redacted@h/d") && shown.contains("url: https://h.example:8443/redacted\n"))
        let operators = OperatorConfiguration(loaded)
        #expect(!operators.values.contains { $0.value.contains("hunter2") }, "\(operators.values)")
        #expect(operators.values.contains { $0.key == "state.url" })
    }
}
