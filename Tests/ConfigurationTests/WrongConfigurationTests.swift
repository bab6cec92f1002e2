import EdgeConfiguration
import Testing

@testable import gatehouse

/// Every kind of wrong value, in the middle of a file that is good otherwise: the fault names the line and the key.
@Suite("A wrong configuration names its line") struct WrongConfigurationTests {
    /// What is wrong, the line it is in, and what the fault must name.
    private static let table: [(yaml: String, line: Int, key: String)] = [
        // Form
        ("server:\n  listen: 127.0.0.1:1\n  lisen: a\n", 3, "server.lisen"),
        ("tokens:\n  issuer: https://a.example\n  issuer: https://b.example\n", 2, "issuer"),
        ("server:\n  listen: [a\n", 3, ""),
        ("server:\n\tlisten: a\n", 2, ""),
        ("log: {level: info}\n- a\n", 2, ""),
        ("server: 3\n", 1, "server"),
        ("state:\n  grace:\n    a: 1\n", 3, "state.grace"),
        ("limits:\n  enabled:\n", 2, "limits.enabled"),
        ("tokens.issuer: https://a.example\n", 1, "tokens.issuer"),
        ("routes: {path: /a}\n", 1, "routes"),
        ("routes:\n  - path: /a\n    requires: token\n", 3, "requires"),
        ("issuers:\n  - issuer: https://a.example\n    audience: [x]\n    jwks: k\n    jwk: x\n", 5, "jwk"),
        // Values
        ("server:\n  listen: 8080\n", 2, "server.listen"),
        ("server:\n  listen: 127.0.0.1:70000\n", 2, "server.listen"),
        ("server:\n  admin: unix:relative.sock\n", 2, "server.admin"),
        ("server:\n  socket_mode: 0999\n", 2, "server.socket_mode"),
        ("server:\n  threads: 0\n", 2, "server.threads"),
        ("server:\n  allowed_origins: [https://a.example/path]\n", 2, "server.allowed_origins"),
        ("server:\n  trusted_proxies:\n    - 10.0.0.0/8\n    - 10.0.0.0/33\n", 4, "server.trusted_proxies"),
        ("server:\n  hosts: ['a b']\n", 2, "server.hosts"),
        ("server:\n  max_header: 1\n", 2, "server.max_header"),
        ("server:\n  max_body: 1mb\n", 2, "server.max_body"),
        ("server:\n  header_timeout: 10\n", 2, "server.header_timeout"),
        ("server:\n  drain: 2h\n", 2, "server.drain"),
        ("server:\n  watch: maybe\n", 2, "server.watch"),
        ("state:\n  url: mysql://a/b\n", 2, "state.url"),
        ("tokens:\n  issuer: auth.example\n", 2, "tokens.issuer"),
        ("tokens:\n  algorithm: none\n", 2, "tokens.algorithm"),
        ("tokens:\n  algorithm: HS256\n", 2, "tokens.algorithm"),
        ("tokens:\n  access_token_lifetime: 0s\n", 2, "tokens.access_token_lifetime"),
        ("tokens:\n  clock_skew: 61s\n", 2, "tokens.clock_skew"),
        ("tokens:\n  audience: []\n", 2, "tokens.audience"),
        ("tokens:\n  claims: [birthday]\n", 2, "tokens.claims"),
        ("sessions:\n  idle: -1s\n", 2, "sessions.idle"),
        ("sessions:\n  per_user: 0\n", 2, "sessions.per_user"),
        ("websocket:\n  refusals: both\n", 2, "websocket.refusals"),
        ("websocket:\n  max_message: 1GiB\n", 2, "websocket.max_message"),
        ("limits:\n  login_per_minute: ten\n", 2, "limits.login_per_minute"),
        ("runtime:\n  url: https://a.example\n", 2, "runtime.url"),
        ("accounts:\n  default_tenant: 'a b'\n", 2, "accounts.default_tenant"),
        ("log:\n  format: xml\n", 2, "log.format"),
        ("log:\n  level: loud\n", 2, "log.level"),
        ("tracing:\n  otlp: http://a:4318/v1/traces\n", 2, "tracing.otlp"),
        ("tracing:\n  ratio: 1.1\n", 2, "tracing.ratio"),
        // Lists of entries
        ("routes:\n  - upstream: http://a:1\n", 2, "path"),
        ("routes:\n  - path: orders\n", 2, "path"),
        ("routes:\n  - path: /a\n    upstream: ftp://a\n", 3, "upstream"),
        ("routes:\n  - path: /a\n    require: cookie\n", 3, "require"),
        ("routes:\n  - path: /a\n    max_body: big\n", 3, "max_body"),
        ("routes:\n  - path: /a\n    timeout: soon\n", 3, "timeout"),
        ("routes:\n  - {path: /a, upstream: http://a:1}\n  - {path: /a, upstream: http://b:1}\n", 3, "routes[1]"),
        ("issuers:\n  - {issuer: https://a.example, audience: [x]}\n", 2, "jwks"),
        (
            "issuers:\n  - issuer: https://a.example\n    jwks: k\n    audience: x\n    tenants: [a b]\n", 5,
            "issuers[0].tenants"
        ),
        (
            "identity_providers:\n  - {name: A B, issuer: https://a.example, client_id: x, client_secret: y}\n", 2,
            "name"
        ),
        ("identity_providers:\n  - {name: a, client_id: x, client_secret: y}\n", 2, "issuer"),
        ("events:\n  - {url: 'ftp://a', events: [session.ended]}\n", 2, "url"),
        ("events:\n  - {url: 'https://a.example/h', events: [tea.ready]}\n", 2, "events"),
        // Several keys together
        ("server:\n  tls: {certificate: a.pem}\n", 2, "server.tls"),
        ("server:\n  listen: 127.0.0.1:8080\n  admin: 127.0.0.1:8080\n", 3, "server.admin"),
        ("server:\n  proxy_protocol: true\n", 2, "server.proxy_protocol"),
        ("audit:\n  file: one.log\nlog:\n  access: ./one.log\n", 4, "log.access"),
        ("state:\n  url: sqlite:a\n  url_file: b\n", 3, "state.url_file"),
        ("routes:\n  - path: /a\n    require: session\n    scopes: [b]\n", 4, "routes[0].scopes"),
        ("routes:\n  - path: /a\n    require: none\n    fresh: 5m\n", 4, "routes[0].fresh"),
        ("routes:\n  - path: /a\n    require: none\n    allow:\n      groups: [b]\n", 5, "routes[0].allow"),
        ("routes:\n  - path: /a\n    max_requests: 1\n", 3, "routes[0].max_requests"),
        ("routes:\n  - path: /a\n    limit:\n      per: 1s\n", 3, "routes[0].limit"),
        (
            "routes:\n  - path: /a\n    require: token\n    limit:\n      requests: 1\n      by: session\n", 6,
            "routes[0].limit.by"
        ),
        ("routes:\n  - path: /a\n    upstream: http://a:1\n    health:\n      status: []\n", 5, "health.status"),
        (
            "routes:\n  - path: /a\n    upstream: http://a:1\n    client_certificate: required\n", 4,
            "routes[0].client_certificate"
        ),
        ("routes:\n  - path: /a\n    resource:\n      scopes: [b]\n", 3, "routes[0].resource.name"),
        (
            "tokens:\n  issuer: https://a.example/b\n"
                + "routes:\n  - path: /a\n    upstream: http://a:1\n    resource:\n      name: x\n", 2,
            "tokens.issuer"
        ),
        (
            "routes:\n  - path: /a\n    upstream: http://a:1\n    websocket: true\n    resource:\n      name: x\n",
            4, "websocket"
        ),
        (
            "routes:\n  - path: /a\n    upstream: http://a:1\n    require: session\n    resource:\n      name: x\n",
            4, "require"
        ),
        (
            "routes:\n  - path: /a\n    upstream: http://a:1\n    resource:\n      name: x\n"
                + "      authorization_servers: [https://b.example]\n", 6, "authorization_servers"
        ),
        (
            "issuers:\n  - issuer: https://a.example\n    audience: [x]\n    jwks: k\n    discovery: true\n", 5,
            "issuers[0].discovery"
        ),
        (
            "server:\n  tls:\n    certificate: a\n    key: b\n    certificates:\n      - hosts:\n        - 192.0.2.1\n",
            7, "server.tls.certificates"
        ),
        ("state:\n  url_file: nowhere\n", 2, "state.url_file"),
    ]

    @Test("Whatever is wrong, the first fault is at its line", arguments: table.indices)
    func places(index: Int) throws {
        // Lines before it, so that no line number is right by accident.
        let (yaml, line, key) = try #require(Self.table.indices.contains(index) ? Self.table[index] : nil)
        let found = faults("# A comment\n\n" + yaml)
        let first = try #require(found.first, "nothing is wrong with\n\(yaml)")
        #expect(first.hasPrefix("g.yaml:\(line + 2):") && first.contains(key), "\(first)\nfor\n\(yaml)")
    }

    @Test("The table has at least forty kinds")
    func count() { #expect(Self.table.count >= 40) }

    @Test("The file that holds the URL of the store counts like the key, and a flag goes before both")
    func stateURLFile() throws {
        let loader = ConfigurationLoader(environment: [:]) { path throws(ConfigurationFault) in
            switch path {
            case "g.yaml": Array("state:\n  url_file: secret\n".utf8)
            case "secret": Array("postgres://g:hunter2@db/gate\n".utf8)
            default: nil
            }
        }
        let loaded = try loader.load(file: "g.yaml")
        #expect(loaded.configuration.state.url == "postgres://g:hunter2@db/gate")
        #expect(!ConfigurationText.yaml(loaded.configuration).contains("hunter2"))
        let shown = ConfigurationText.yaml(loaded.configuration, stateURLFile: loaded.stateURLFile)
        #expect(shown.contains("state:\n  url_file: secret\n") && !shown.contains("postgres"), "\(shown)")
        let flag = ConfigurationFlag(name: "--state", key: "state.url", value: "sqlite:x")
        #expect(try loader.load(file: "g.yaml", flags: [flag]).configuration.state.url == "sqlite:x")
        let wrong = ConfigurationLoader(environment: ["GATEHOUSE_STATE_URL_FILE": "secret"]) { path in
            path == "secret" ? Array("mysql://u:hunter2@db\n".utf8) : nil
        }
        #expect { try wrong.load() } throws: { error in
            "\(error)".contains("GATEHOUSE_STATE_URL_FILE") && !"\(error)".contains("hunter2")
        }
    }

    @Test(
        "A place in the file is taken apart, and other places are none",
        arguments: [
            ("g.yaml:3:5", "g.yaml", Int64(3)), ("/a:b/g.yaml:12:1", "/a:b/g.yaml", 12),
        ])
    func filePlaces(text: String, file: String, line: Int64) {
        #expect(ConfigurationPlace(text)?.file == file && ConfigurationPlace(text)?.line == line)
        for other in ["g.yaml", "GATEHOUSE_LOG_LEVEL", "--state", "a:b:c", ""] {
            #expect(ConfigurationPlace(other) == nil)
        }
    }
}
