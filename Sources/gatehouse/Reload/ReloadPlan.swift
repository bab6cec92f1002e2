import EdgeConfiguration

/// How a running gateway applies a changed configuration: the configuration that it goes on with, and the keys that
/// need a restart.
struct ReloadPlan {
    /// The keys that take effect without a restart, besides the lists of entries such as `routes` and `issuers`.
    static let reloadable: Set<String> = [
        "server.allowed_origins", "server.trusted_proxies", "server.max_connections", "server.hosts",
        "server.max_header", "server.max_body", "server.header_timeout", "server.idle_timeout", "server.drain",
        "server.tls.certificate", "server.tls.key", "server.tls.certificates", "server.tls.client_ca",
        "sessions.per_user",
        "websocket.max_message", "websocket.ping", "websocket.refusals", "websocket.max_lifetime",
        "limits.enabled", "limits.sockets_per_session", "limits.sockets_per_user", "limits.login_per_minute",
        "limits.anonymous_per_minute", "accounts.registration", "accounts.registration_tenants", "accounts.passwords",
        "clients.registration", "clients.registration_per_hour", "clients.registration_lifetime",
        "clients.allow_private", "errors.explain", "log.level", "tracing.ratio",
    ]
    /// Keys that can be replaced but neither switched on nor off without a restart.
    static let ofTLS = [
        "server.tls.certificate", "server.tls.key", "server.tls.certificates", "server.tls.client_ca",
    ]

    /// What the gateway goes on with: keys that need a restart keep their values.
    let configuration: GatewayConfiguration
    /// The keys that have changed and need a restart, in the order of the sample file.
    let needRestart: [String]

    /// - Parameters:
    ///   - running: what the gateway runs with.
    ///   - wanted: what was read.
    init(running: GatewayConfiguration, wanted: GatewayConfiguration) {
        let switchesTLS = (running.server.tls == nil) != (wanted.server.tls == nil)
        let old = ConfigurationDraft(running)
        var next = ConfigurationDraft(wanted)
        var needRestart: [String] = []
        for setting in GatewaySettings.all {
            let isKept = !Self.reloadable.contains(setting.key) || (switchesTLS && Self.ofTLS.contains(setting.key))
            guard isKept, let keep = setting.keep else { continue }
            if keep(old, &next) { needRestart.append(setting.key) }
        }
        if running.events != wanted.events { needRestart.append("events") }
        next.configuration.events = running.events
        if running.keys.passphrase != wanted.keys.passphrase { needRestart.append("keys.passphrase") }
        next.configuration.keys.passphrase = running.keys.passphrase
        next.joinTLS()
        configuration = next.configuration
        self.needRestart = needRestart
    }
}
