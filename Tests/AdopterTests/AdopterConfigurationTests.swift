import Experience
import Testing

/// What a program may say that only has the public API: this target is compiled as if it were another package's.
@Suite("Configuration by an adopter") struct AdopterConfigurationTests {
    /// Every property with another value than its default. A property that is not public, or not here, fails the tests.
    static func everything() throws -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.server.listen = ListenAddress(host: "::1", port: 1)
        configuration.server.admin = nil
        configuration.server.socketMode = 0o600
        configuration.server.threads = 2
        configuration.server.allowedOrigins = ["https://a.example"]
        configuration.server.trustedProxies = ["10.0.0.0/8"]
        configuration.server.proxyProtocol = true
        configuration.server.maxConnections = 10
        configuration.server.hosts = ["a.example"]
        configuration.server.tls = .init(certificate: "c.pem", key: "k.pem")
        configuration.server.tls?.clientCA = "ca.pem"
        configuration.server.maxHeader = 2048
        configuration.server.maxBody = 1
        configuration.server.headerTimeout = 200
        configuration.server.idleTimeout = 2_000
        configuration.server.drain = 1
        configuration.server.watch = true
        configuration.server.reusePort = true
        configuration.state.url = "postgres://db"
        configuration.state.grace = 1
        configuration.keys.directory = "k"
        configuration.keys.passphraseFile = "p"
        try configuration.keys.encrypt(with: Array("secret".utf8))
        configuration.tokens.issuer = "https://a.example"
        configuration.tokens.audience = ["a"]
        configuration.tokens.claims = [.name]
        configuration.tokens.algorithm = "Ed25519"
        configuration.tokens.accessTokenLifetime = 1_000
        configuration.tokens.refreshTokenLifetime = 1_000
        configuration.tokens.clockSkew = 1
        configuration.sessions.anonymousIdle = 1_000
        configuration.sessions.anonymousLifetime = 1_000
        configuration.sessions.idle = 1_000
        configuration.sessions.lifetime = 1_000
        configuration.sessions.perUser = 1
        configuration.webSocket.maxMessage = 1_024
        configuration.webSocket.ping = 1_000
        configuration.webSocket.refusals = .close
        configuration.webSocket.maxLifetime = 1_000
        configuration.limits.enabled = false
        configuration.limits.socketsPerSession = 1
        configuration.limits.socketsPerUser = 1
        configuration.limits.loginPerMinute = 1
        configuration.limits.anonymousPerMinute = 1
        configuration.runtime.url = "http://127.0.0.1:1"
        configuration.runtime.mcp = true
        configuration.accounts.registration = true
        configuration.accounts.registrationTenants = ["a"]
        configuration.accounts.defaultTenant = "a"
        configuration.accounts.passwords = false
        configuration.accounts.defaultScope = ["a"]
        configuration.clients.registration = true
        configuration.clients.registrationPerHour = 1
        configuration.clients.registrationLifetime = 60_000
        configuration.clients.allowPrivate = true
        configuration.clients.ca = "a"
        configuration.passkeys.rpID = "a.example"
        configuration.errors.explain = true
        configuration.log.format = .json
        configuration.log.level = .debug
        configuration.log.access = "a"
        configuration.audit.file = "a"
        configuration.tracing.otlp = "http://127.0.0.1:1"
        configuration.tracing.ratio = 0.5
        configuration.routes = [route]
        configuration.issuers = [issuer]
        var github = IdentityProviderConfiguration(name: "github", preset: .github, clientID: "a")
        github.clientSecret = .init("s3cret of the client")
        configuration.identityProviders = [github]
        configuration.events = [receiver]
        return configuration
    }

    private static var route: RouteConfiguration {
        var route = RouteConfiguration(path: "/b")
        route.host = "a.example"
        route.methods = ["GET"]
        route.upstreams = ["http://127.0.0.1:1"]
        route.upstreamTLS.ca = "a"
        route.upstreamTLS.name = "b"
        route.upstreamTLS.certificate = "c"
        route.upstreamTLS.key = "d"
        route.require = .token
        route.scopes = ["a"]
        route.allow.scopesAny = ["a"]
        route.allow.groups = ["a"]
        route.allow.users = ["usr_a"]
        route.allow.emailDomains = ["a.example"]
        route.allow.clients = ["gatehouse"]
        route.allow.tenants = ["a"]
        route.fresh = 1_000
        route.acr = ["phr"]
        route.identity = [.user]
        route.audience = "b"
        route.stripPrefix = true
        route.webSocket = true
        route.lease = true
        route.timeout = 100
        route.maxBody = 1
        route.cors = .upstream
        route.loginURL = "/login"
        route.encodedSlash = true
        route.forwardAuthorization = true
        route.headers = [.init(name: "a", value: "b")]
        route.health = .init()
        route.outlier = .init()
        route.retry = .init()
        route.limit = .init()
        route.maxRequests = 1
        route.maxConnections = 1
        route.panic = 0.5
        route.slowStart = 1_000
        route.clientCertificate = .required
        route.forwardClientCertificate = true
        var resource = RouteConfiguration.Resource()
        resource.name = "a"
        resource.scopes = ["b"]
        resource.documentation = "https://c.example"
        resource.offline = true
        resource.authorizationServers = ["https://d.example"]
        route.resource = resource
        return route
    }

    private static var issuer: IssuerConfiguration {
        var issuer = IssuerConfiguration(issuer: "https://i.example", jwks: "j", audience: ["a"])
        issuer.discovery = true
        issuer.allowPrivate = true
        issuer.atGate = true
        issuer.tenants = ["a"]
        issuer.algorithms = ["ES256"]
        issuer.scopes = ["a"]
        return issuer
    }

    private static var receiver: EventReceiverConfiguration {
        var receiver = EventReceiverConfiguration(url: "https://r.example", events: [.sessionEnded])
        receiver.allowPrivate = true
        return receiver
    }

    /// Everything at once, which no provider needs.
    private static var provider: IdentityProviderConfiguration {
        var provider = IdentityProviderConfiguration(name: "p", issuer: "https://p.example", clientID: "c")
        provider.preset = .github
        provider.displayName = "P"
        provider.kind = .oauth2
        provider.clientSecret = .init("s")
        provider.clientSecretFile = "f"
        provider.clientAuthentication = .privateKeyJWT
        provider.scopes = ["openid"]
        provider.tenant = "a"
        provider.tenantClaim = "t"
        provider.tenants = ["a"]
        provider.claims.email = "e"
        provider.claims.name = "n"
        provider.claims.groups = "g"
        provider.claims.scope = "s"
        provider.allowed.emailDomains = ["a.example"]
        provider.allowed.groups = ["g"]
        provider.allowed.claims = [.init(name: "a", values: ["b"])]
        provider.linkVerifiedEmail = true
        provider.trustEmail = true
        provider.userInfo = true
        provider.acceptTokens = true
        provider.allowPrivate = true
        provider.authorizationEndpoint = "a"
        provider.tokenEndpoint = "b"
        provider.userInfoEndpoint = "c"
        provider.emailsEndpoint = "d"
        provider.subjectClaim = "e"
        return provider
    }

    @Test("A secret of a provider has no description, and a provider that can't be used is refused by key")
    func providers() throws {
        var configuration = try Self.everything()
        #expect(!String(reflecting: configuration).contains("s3cret") && !"\(configuration)".contains("s3cret"))
        configuration.identityProviders[0].name = "Not A Name"
        let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
        #expect(error?.code == .providerRefused && error?.key == "identity_providers[0].name")
    }

    @Test("Every property can be set")
    func all() throws {
        let defaults = Self.leaves(of: GatewayConfiguration())
        let changed = Self.leaves(of: try Self.everything())
        #expect(defaults.count > 45 && defaults.keys.sorted() == changed.keys.sorted())
        for (name, value) in defaults { #expect(changed[name] != value, "\(name) was not set") }
        let (plain, route) = (Self.leaves(of: RouteConfiguration(path: "/")), Self.leaves(of: Self.route))
        #expect(plain.count > 20)
        // The one route that the gateway adds itself is not configured.
        for (name, value) in plain where name != "servesRuntime" {
            #expect(route[name] != value, "routes.\(name) was not set")
        }
        let none = Self.leaves(of: IssuerConfiguration(issuer: "", jwks: nil, audience: []))
        let issuer = Self.leaves(of: Self.issuer)
        for (name, value) in none { #expect(issuer[name] != value, "issuers.\(name) was not set") }
        let bare = Self.leaves(of: IdentityProviderConfiguration(name: "", issuer: "", clientID: ""))
        let provider = Self.leaves(of: Self.provider)
        #expect(bare.count > 25)
        for (name, value) in bare { #expect(provider[name] != value, "identity_providers.\(name) was not set") }
        let unset = Self.leaves(of: EventReceiverConfiguration(url: "", events: []))
        let receiver = Self.leaves(of: Self.receiver)
        for (name, value) in unset { #expect(receiver[name] != value, "events.\(name) was not set") }
    }

    @Test("Numbers out of their bounds and fields that would be two are refused, by key")
    func bounds() throws {
        try GatewayConfiguration().check()
        try Self.everything().check()
        var threads = GatewayConfiguration()
        threads.server.threads = 0
        var skew = GatewayConfiguration()
        skew.tokens.clockSkew = .max
        var timeout = GatewayConfiguration()
        timeout.routes = [RouteConfiguration(path: "/a")]
        timeout.routes[0].timeout = -1
        for (wrong, key) in [(threads, "server.threads"), (skew, "tokens.clock_skew"), (timeout, "routes[0].timeout")] {
            let error = #expect(throws: ConfigurationError.self) { try wrong.check() }
            #expect(error?.code == .outOfBounds && error?.key == key)
        }
        let asking: [(inout RouteConfiguration) -> Void] = [
            { $0.allow.groups = ["a"] }, { $0.fresh = 1_000 }, { $0.acr = ["a"] }, { $0.scopes = ["a"] },
        ]
        for (index, ask) in asking.enumerated() {
            for require in [RouteConfiguration.Requirement.none, .session, .token] {
                var configuration = GatewayConfiguration()
                configuration.routes = [RouteConfiguration(path: "/a")]
                configuration.routes[0].require = require
                ask(&configuration.routes[0])
                // A scope, which is the last of them, can't be met by a session alone.
                guard require == .none || (require == .session && index == asking.count - 1) else {
                    try configuration.check()
                    continue
                }
                let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
                #expect(error?.code == .callerUnknown && error?.key == "routes[0]")
            }
        }
        for header in [("X-A", "b\r\nX-C: d"), ("X-A: b\r\nX-C", "d"), ("", "a")] {
            var fields = GatewayConfiguration()
            fields.routes = [RouteConfiguration(path: "/a")]
            fields.routes[0].headers = [.init(name: header.0, value: header.1)]
            let error = #expect(throws: ConfigurationError.self) { try fields.check() }
            #expect(error?.code == .headerMalformed)
        }
    }

    /// The values of all stored properties, those of nested structures by their own names.
    private static func leaves(of value: Any, under prefix: String = "") -> [String: String] {
        var found: [String: String] = [:]
        for child in Mirror(reflecting: value).children {
            let name = prefix + (child.label ?? "")
            let mirror = Mirror(reflecting: child.value)
            let isGroup = mirror.displayStyle == .struct && !(child.value is ListenAddress)
            if isGroup, !mirror.children.isEmpty {
                found.merge(leaves(of: child.value, under: name + "."), uniquingKeysWith: { first, _ in first })
            } else {
                found[name] = "\(child.value)"
            }
        }
        return found
    }
}
