import EdgeConfiguration
import Experience
import SecurityGuard

/// Every key but `routes`, `issuers`, `identity_providers` and `events`: the one list that file, environment, flags and
/// `config show` go by.
enum GatewaySettings {
    /// A key outside of the lists of routes, issuers, providers and receivers of events.
    typealias Key = Setting<ConfigurationDraft>

    /// All keys, in the order in which a configuration is shown.
    static let all: [Key] = server + state + tokens + sessions + webSocket + limits + rest

    private static let server: [Key] = [
        .one("server.listen", \.configuration.server.listen, .listenAddress),
        .maybe("server.admin", \.configuration.server.admin, .listenAddress, missing: "off"),
        .one("server.socket_mode", \.configuration.server.socketMode, .fileMode),
        .maybe(
            "server.threads", \.configuration.server.threads, .integer(ConfigurationBounds.threads), missing: "cores"),
        .list("server.allowed_origins", \.configuration.server.allowedOrigins, .origin),
        .list("server.trusted_proxies", \.configuration.server.trustedProxies, .addressBlock),
        .one("server.proxy_protocol", \.configuration.server.proxyProtocol, .flag),
        .maybe(
            "server.max_connections", \.configuration.server.maxConnections,
            .integer(ConfigurationBounds.maxConnections),
            missing: "none"),
        .list("server.hosts", \.configuration.server.hosts, .hostName, isOpenWhenEmpty: true),
        .maybe("server.tls.certificate", \.certificate, .text("the path of a PEM file"), missing: "off"),
        .maybe("server.tls.key", \.certificateKey, .text("the path of a PEM file"), missing: "off"),
        CertificateSettings.certificates,
        .maybe("server.tls.client_ca", \.clientCA, .text("the path of a PEM file"), missing: "off"),
        .one("server.max_header", \.configuration.server.maxHeader, .size(ConfigurationBounds.maxHeader)),
        .maybe("server.max_body", \.configuration.server.maxBody, .size(ConfigurationBounds.maxBody), missing: "none"),
        .one(
            "server.header_timeout", \.configuration.server.headerTimeout, .duration(ConfigurationBounds.headerTimeout)),
        .one("server.idle_timeout", \.configuration.server.idleTimeout, .duration(ConfigurationBounds.idleTimeout)),
        .one("server.drain", \.configuration.server.drain, .duration(ConfigurationBounds.drain)),
        .one("server.watch", \.configuration.server.watch, .flag),
        .one("server.reuse_port", \.configuration.server.reusePort, .flag),
    ]

    private static let state: [Key] = [
        .one("state.url", \.configuration.state.url, .stateURL),
        .maybe("state.url_file", \.stateURLFile, .text("the path of a file"), missing: "off"),
        .one("state.grace", \.configuration.state.grace, .duration(ConfigurationBounds.grace)),
        .one("keys.directory", \.configuration.keys.directory, .text("the path of a directory")),
        .maybe(
            "keys.passphrase_file", \.configuration.keys.passphraseFile, .text("the path of a file"), missing: "off"),
    ]

    private static let tokens: [Key] = [
        .maybe("tokens.issuer", \.configuration.tokens.issuer, .issuer),
        .list("tokens.audience", \.configuration.tokens.audience, .text("a name"), orOne: true),
        .list("tokens.claims", \.configuration.tokens.claims, .word),
        .one("tokens.algorithm", \.configuration.tokens.algorithm, AlgorithmNames.signing),
        .one(
            "tokens.access_token_lifetime", \.configuration.tokens.accessTokenLifetime,
            .duration(TokenPolicy.accessTokenLifetimes)),
        .one(
            "tokens.refresh_token_lifetime", \.configuration.tokens.refreshTokenLifetime,
            .duration(TokenPolicy.refreshTokenLifetimes)),
        .one("tokens.clock_skew", \.configuration.tokens.clockSkew, .duration(TokenPolicy.clockSkews)),
    ]

    private static let sessions: [Key] = [
        .one(
            "sessions.anonymous_idle", \.configuration.sessions.anonymousIdle, .duration(ConfigurationBounds.lifetime)),
        .one(
            "sessions.anonymous_lifetime", \.configuration.sessions.anonymousLifetime,
            .duration(ConfigurationBounds.lifetime)),
        .one("sessions.idle", \.configuration.sessions.idle, .duration(ConfigurationBounds.lifetime)),
        .one("sessions.lifetime", \.configuration.sessions.lifetime, .duration(ConfigurationBounds.lifetime)),
        .one("sessions.per_user", \.configuration.sessions.perUser, .integer(ConfigurationBounds.sessionsPerUser)),
    ]

    private static let webSocket: [Key] = [
        .one("websocket.max_message", \.configuration.webSocket.maxMessage, .size(ConfigurationBounds.maxMessage)),
        .one("websocket.ping", \.configuration.webSocket.ping, .duration(ConfigurationBounds.ping)),
        .one("websocket.refusals", \.configuration.webSocket.refusals, .word),
        .one("websocket.max_lifetime", \.configuration.webSocket.maxLifetime, .duration(ConfigurationBounds.lifetime)),
    ]

    private static let limits: [Key] = [
        .one("limits.enabled", \.configuration.limits.enabled, .flag),
        .one(
            "limits.sockets_per_session", \.configuration.limits.socketsPerSession,
            .integer(ConfigurationBounds.sockets)),
        .one("limits.sockets_per_user", \.configuration.limits.socketsPerUser, .integer(ConfigurationBounds.sockets)),
        .one(
            "limits.login_per_minute", \.configuration.limits.loginPerMinute,
            .integer(ConfigurationBounds.loginPerMinute)),
        .one(
            "limits.anonymous_per_minute", \.configuration.limits.anonymousPerMinute,
            .integer(ConfigurationBounds.anonymousPerMinute)),
    ]

    private static let rest: [Key] = [
        .maybe("runtime.url", \.configuration.runtime.url, .endpoint(schemes: ["http"]), missing: "embedded"),
        .one("runtime.mcp", \.configuration.runtime.mcp, .flag),
        .one("accounts.registration", \.configuration.accounts.registration, .flag),
        .list("accounts.registration_tenants", \.configuration.accounts.registrationTenants, .tenant),
        .maybe("accounts.default_tenant", \.configuration.accounts.defaultTenant, .tenant, missing: "none"),
        .one("accounts.passwords", \.configuration.accounts.passwords, .flag),
        .list("accounts.default_scope", \.configuration.accounts.defaultScope, .scope),
        .one("clients.registration", \.configuration.clients.registration, .flag),
        .one(
            "clients.registration_per_hour", \.configuration.clients.registrationPerHour,
            .integer(ConfigurationBounds.registrationPerHour)),
        .one(
            "clients.registration_lifetime", \.configuration.clients.registrationLifetime,
            .duration(ConfigurationBounds.registrationLifetime)),
        .one("clients.allow_private", \.configuration.clients.allowPrivate, .flag),
        .maybe("clients.ca", \.configuration.clients.ca, .text("the path of a PEM file"), missing: "off"),
        .maybe("passkeys.rp_id", \.configuration.passkeys.rpID, .serverName, missing: "issuer"),
        .one("errors.explain", \.configuration.errors.explain, .flag),
        .one("log.format", \.configuration.log.format, .word),
        .one("log.level", \.configuration.log.level, .word),
        .maybe(
            "log.access", \.configuration.log.access, .text("the path of a file, or 'stderr'"), missing: "off"),
        .maybe("audit.file", \.configuration.audit.file, .text("the path of a file"), missing: "off"),
        .maybe("tracing.otlp", \.configuration.tracing.otlp, .collector, missing: "off"),
        .one("tracing.ratio", \.configuration.tracing.ratio, .fraction(ConfigurationBounds.tracingRatio)),
    ]
}
