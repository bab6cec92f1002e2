import Foundation

/// A key that a reload changes: the file before and after, and what shows that the gateway obeys it.
struct ReloadedKey: Sendable {
    /// Expects what a client sees of the key.
    ///
    /// - Parameters:
    ///   - upstream: the upstream of the route `/o`, and the collector of traces.
    ///   - isAfter: whether the gateway has changed to the second file.
    typealias Observation =
        @Sendable (_ gateway: GatewayInProcess, _ upstream: RecordingUpstream, _ isAfter: Bool) async throws -> Void

    let before: String
    let after: String
    /// Nil for keys without an effect that a client sees in this test.
    let observe: Observation?

    /// - Parameters:
    ///   - before: lines of the first file; `$COLLECTOR` stands for the collector's URL.
    ///   - after: lines of the second one.
    init(_ before: String, _ after: String, _ observe: Observation? = nil) {
        self.before = before
        self.after = after
        self.observe = observe
    }

    /// A row for every key of `ReloadPlan.reloadable`, but for those of `server.tls`, which `ServerCertificateTests` are
    /// about.
    static let all: [String: ReloadedKey] = server.merging(limits) { $1 }.merging(rest) { $1 }

    private static let server: [String: ReloadedKey] = [
        "server.allowed_origins": ReloadedKey(
            "server: {allowed_origins: []}", "server: {allowed_origins: ['https://new.example']}",
            ReloadObservations.origin),
        "server.trusted_proxies": ReloadedKey(
            "server: {trusted_proxies: []}", "server: {trusted_proxies: [127.0.0.1]}"),
        "server.max_connections": ReloadedKey(
            "server: {max_connections: 2}", "server: {max_connections: 1}", ReloadObservations.connections),
        "server.hosts": ReloadedKey(
            "server: {hosts: []}", "server: {hosts: [127.0.0.1]}", ReloadObservations.hosts),
        "server.max_header": ReloadedKey(
            "server: {max_header: 32KiB}", "server: {max_header: 2KiB}", ReloadObservations.header),
        "server.max_body": ReloadedKey(
            "server: {max_body: 1KiB}", "server: {max_body: 10B}", ReloadObservations.body),
        "server.header_timeout": ReloadedKey(
            "server: {header_timeout: 10m}", "server: {header_timeout: 100ms}", ReloadObservations.headerTimeout),
        "server.idle_timeout": ReloadedKey(
            "server: {idle_timeout: 1d}", "server: {idle_timeout: 1s}", ReloadObservations.idleTimeout),
        "server.drain": ReloadedKey("server: {drain: 1s}", "server: {drain: 0s}"),
    ]

    private static let limits: [String: ReloadedKey] = [
        "sessions.per_user": ReloadedKey(
            "sessions: {per_user: 1000}", "sessions: {per_user: 1}", ReloadObservations.sessions),
        "websocket.max_message": ReloadedKey(
            "websocket: {max_message: 64KiB}", "websocket: {max_message: 1KiB}", ReloadObservations.message),
        "websocket.ping": ReloadedKey("websocket: {ping: 1h}", "websocket: {ping: 1s}", ReloadObservations.ping),
        "websocket.refusals": ReloadedKey(
            "websocket: {refusals: http}\nserver: {allowed_origins: ['https://new.example']}",
            "websocket: {refusals: close}\nserver: {allowed_origins: ['https://new.example']}",
            ReloadObservations.socketRefusal),
        "websocket.max_lifetime": ReloadedKey(
            "websocket: {max_lifetime: 24h}", "websocket: {max_lifetime: 1m}", ReloadObservations.lifetime),
        "limits.enabled": ReloadedKey(
            "limits: {enabled: false, login_per_minute: 1}", "limits: {enabled: true, login_per_minute: 1}",
            ReloadObservations.logins),
        "limits.login_per_minute": ReloadedKey(
            "limits: {login_per_minute: 1000}", "limits: {login_per_minute: 1}", ReloadObservations.logins),
        "limits.anonymous_per_minute": ReloadedKey(
            "limits: {anonymous_per_minute: 600}", "limits: {anonymous_per_minute: 1}", ReloadObservations.anonymous),
        "limits.sockets_per_session": ReloadedKey(
            "limits: {sockets_per_session: 16}", "limits: {sockets_per_session: 1}", ReloadObservations.sockets),
        "limits.sockets_per_user": ReloadedKey(
            "limits: {sockets_per_user: 64}", "limits: {sockets_per_user: 1}", ReloadObservations.sockets),
    ]

    private static let rest: [String: ReloadedKey] = [
        "accounts.registration": ReloadedKey(
            "accounts: {registration: true}", "accounts: {registration: false}", ReloadObservations.registration),
        "accounts.registration_tenants": ReloadedKey(
            "accounts: {registration: true, registration_tenants: []}",
            "accounts: {registration: true, registration_tenants: [people]}", ReloadObservations.registrationTenant),
        "accounts.passwords": ReloadedKey(
            "accounts: {passwords: true}", "accounts: {passwords: false}", ReloadObservations.passwords),
        "clients.registration": ReloadedKey(
            "clients: {registration: true}", "clients: {registration: false}", ReloadObservations.clients),
        "clients.registration_per_hour": ReloadedKey(
            "clients: {registration: true, registration_per_hour: 1000}",
            "clients: {registration: true, registration_per_hour: 1}", ReloadObservations.clientsPerHour),
        "clients.registration_lifetime": ReloadedKey(
            "clients: {registration_lifetime: 24h}", "clients: {registration_lifetime: 1h}"),
        "clients.allow_private": ReloadedKey("clients: {allow_private: false}", "clients: {allow_private: true}"),
        "errors.explain": ReloadedKey("errors: {explain: false}", "errors: {explain: true}", ReloadObservations.reason),
        "log.level": ReloadedKey("log: {level: info}", "log: {level: debug}"),
        "tracing.ratio": ReloadedKey(
            "tracing: {otlp: '$COLLECTOR', ratio: 0}", "tracing: {otlp: '$COLLECTOR', ratio: 1}",
            ReloadObservations.sampling),
    ]
}
