import EdgeConfiguration
import SecurityGuard
import Testing

@testable import gatehouse

/// Lists and sections with nothing in them, which must not silently mean that everybody passes.
@Suite("Empty values in the configuration") struct EmptyValueTests {
    private static let route = "routes:\n  - path: /a\n    require: token\n"
    private static let issuer = "issuers:\n  - issuer: https://a.example\n    jwks: k\n"
    private static let provider =
        "identity_providers:\n  - name: a\n    issuer: https://a.example\n    client_id: c\n    client_secret: s\n"
    private static let receiver = "events:\n  - url: https://a.example\n"

    /// What is empty, the line it is in, and the key that the fault names.
    private static let refused: [(yaml: String, line: Int, key: String)] = [
        (route + "    resource: {}\n", 4, "routes[0].resource.name"),
        (route + "    resource:\n", 4, "routes[0].resource.name"),
        (route + "    resource: {name: ''}\n", 4, "routes[0].resource.name"),
        (route + "    resource: {name: x, authorization_servers: []}\n", 4, "routes[0].resource.authorization_servers"),
        (route + "    allow: {}\n", 4, "routes[0].allow"),
        (route + "    allow:\n", 4, "routes[0].allow"),
        (route + "    allow: {tenants: []}\n", 4, "routes[0].allow.tenants"),
        (route + "    allow: {users: }\n", 4, "routes[0].allow.users"),
        (route + "    methods:\n", 4, "routes[0].methods"),
        (route + "    upstream:\n", 4, "routes[0].upstream"),
        (route + "    acr: []\n", 4, "routes[0].acr"),
        (route + "    acr:\n", 4, "routes[0].acr"),
        (route + "    scopes:\n", 4, "routes[0].scopes"),
        (route + "    fresh:\n", 4, "routes[0].fresh"),
        (route + "    limit: {}\n", 4, "routes[0].limit.requests"),
        (issuer + "    audience: []\n", 4, "issuers[0].audience"),
        (issuer + "    audience:\n", 4, "issuers[0].audience"),
        (issuer + "    audience: ['']\n", 4, "issuers[0].audience[0]"),
        (issuer + "    audience: a\n    algorithms: []\n", 5, "issuers[0].algorithms"),
        (issuer + "    audience: a\n    algorithms:\n", 5, "issuers[0].algorithms"),
        (provider + "    allowed: {}\n", 6, "identity_providers[0].allowed"),
        (provider + "    allowed:\n", 6, "identity_providers[0].allowed"),
        (provider + "    allowed: {email_domains: []}\n", 6, "identity_providers[0].allowed.email_domains"),
        (provider + "    allowed: {groups: []}\n", 6, "identity_providers[0].allowed.groups"),
        (provider + "    allowed:\n      groups:\n", 7, "identity_providers[0].allowed.groups"),
        (provider + "    allowed: {claims: {}}\n", 6, "identity_providers[0].allowed.claims"),
        (provider + "    allowed: {claims: {hd: []}}\n", 6, "identity_providers[0].allowed.claims"),
        (provider + "    tenant_claim: t\n    tenants: []\n", 7, "identity_providers[0].tenants"),
        (receiver + "    events: []\n", 3, "events[0].events"),
        (receiver + "    events:\n", 3, "events[0].events"),
        ("server:\n  hosts:\n", 2, "server.hosts"),
        ("server:\n  tls: {}\n", 2, "server.tls"),
        ("server:\n  tls: {certificates: []}\n", 2, "server.tls"),
        ("server:\n  tls: {client_ca: off}\n", 2, "server.tls"),
        ("server:\n  tls:\n    certificate: a\n    key: b\n    certificates: [{}]\n", 5, "server.tls.certificates"),
        ("server:\n  tls:\n    certificate: a\n    key: b\n    client_ca:\n", 5, "server.tls.client_ca"),
        ("tokens:\n  audience:\n", 2, "tokens.audience"),
    ]

    @Test(
        "Where it would lift a restriction or leave nothing to do, it is a fault of its line",
        arguments: refused.indices)
    func refuses(index: Int) throws {
        let (yaml, line, key) = try #require(Self.refused.indices.contains(index) ? Self.refused[index] : nil)
        let found = faults("# A comment\n" + yaml)
        #expect(found.count == 1, "\(found)\nfor\n\(yaml)")
        #expect(found.first?.hasPrefix("g.yaml:\(line + 1):") == true, "\(found)\nfor\n\(yaml)")
        #expect(found.first?.contains(": \(key): ") == true, "\(found)\nfor\n\(yaml)")
    }

    @Test(
        "Where it means none, or says that something is off, it is none",
        arguments: [
            route + "    scopes: []\n", route + "    identity: []\n", route + "    resource: {name: x, scopes: []}\n",
            issuer + "    audience: a\n    tenants: []\n    scopes: []\n",
            "server: {tls: {certificate: off, key: off}}\n", "server:\n  allowed_origins:\n",
            "server:\n  tls:\n  max_header: 64KiB\n",
            "server: {hosts: [], allowed_origins: [], trusted_proxies: []}\n",
            "accounts: {registration_tenants: [], default_scope: []}\n",
            "server:\nlimits:\nroutes:\nissuers:\nevents:\n",
        ])
    func accepts(yaml: String) {
        #expect(faults(yaml).isEmpty, "\(yaml)")
    }

    @Test("A variable that is empty lifts no restriction, and one with a certificate is enough for `server.tls`")
    func variables() {
        let empty = faults("server: {hosts: [a.example]}", environment: ["GATEHOUSE_SERVER_HOSTS": " , "])
        #expect(empty.count == 1 && empty.first?.hasPrefix("GATEHOUSE_SERVER_HOSTS: is empty") == true, "\(empty)")
        let pair = ["GATEHOUSE_SERVER_TLS_CERTIFICATE": "a.pem", "GATEHOUSE_SERVER_TLS_KEY": "a.key"]
        #expect(faults("server:\n  tls:\n", environment: pair).isEmpty)
    }

    @Test("What is not restricted is shown without the lists that must not be empty")
    func shown() throws {
        let yaml = [
            Self.route, "    resource: {name: x}\n", Self.issuer, "    audience: a\n", Self.provider, Self.receiver,
            "    events: [session.ended]\n",
        ].joined()
        let shown = ConfigurationText.yaml(try load(yaml).configuration)
        for key in ["acr:", "allow:", "allowed:", "algorithms:", "authorization_servers:"] {
            #expect(!shown.contains(key), "\(key)\n\(shown)")
        }
        #expect(try load(shown).configuration.routes == load(yaml).configuration.routes)
        #expect(try load(shown).configuration.issuers == load(yaml).configuration.issuers)
    }

    @Test("What only the start finds in issuers and tokens is a fault of the configuration as well")
    func statuses() {
        for code in [GuardError.Code.issuer, .policy] {
            #expect(ErrorText.failure(GuardError(code, "x"))?.status == .misused)
        }
        #expect(ErrorText.failure(GuardError(.keyFile, "x"))?.status == .failed)
    }
}
