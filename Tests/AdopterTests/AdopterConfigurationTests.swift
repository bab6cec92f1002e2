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
        configuration.server.maxHeader = 2048
        configuration.server.maxBody = 1
        configuration.server.headerTimeout = 200
        configuration.server.idleTimeout = 2_000
        configuration.server.drain = 1
        configuration.state.url = "postgres://db"
        configuration.state.grace = 1
        configuration.keys.directory = "k"
        configuration.keys.passphraseFile = "p"
        try configuration.keys.encrypt(with: Array("secret".utf8))
        configuration.tokens.issuer = "https://a.example"
        configuration.tokens.audience = ["a"]
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
        configuration.accounts.registration = true
        configuration.accounts.registrationTenants = ["a"]
        configuration.accounts.defaultTenant = "a"
        configuration.accounts.passwords = false
        configuration.accounts.defaultScope = ["a"]
        configuration.errors.explain = true
        configuration.log.format = .json
        configuration.log.level = .debug
        configuration.audit.file = "a"
        configuration.routes = [route]
        configuration.issuers = [issuer]
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
        route.require = .none
        route.scopes = ["a"]
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
        return route
    }

    private static var issuer: IssuerConfiguration {
        var issuer = IssuerConfiguration(issuer: "https://i.example", jwks: "j", audience: ["a"])
        issuer.tenants = ["a"]
        issuer.algorithms = ["ES256"]
        issuer.scopes = ["a"]
        return issuer
    }

    @Test("Every property can be set")
    func all() throws {
        let defaults = Self.leaves(of: GatewayConfiguration())
        let changed = Self.leaves(of: try Self.everything())
        #expect(defaults.count > 45 && defaults.keys.sorted() == changed.keys.sorted())
        for (name, value) in defaults { #expect(changed[name] != value, "\(name) was not set") }
        let (plain, route) = (Self.leaves(of: RouteConfiguration(path: "/")), Self.leaves(of: Self.route))
        #expect(plain.count > 20)
        for (name, value) in plain { #expect(route[name] != value, "routes.\(name) was not set") }
        let none = Self.leaves(of: IssuerConfiguration(issuer: "", jwks: "", audience: []))
        let issuer = Self.leaves(of: Self.issuer)
        for (name, value) in none { #expect(issuer[name] != value, "issuers.\(name) was not set") }
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
