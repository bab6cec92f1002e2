/// What a running gateway can't take over.
extension GatewayConfiguration {
    /// A key that a gateway reads once, when it starts: listeners, the store and the keys were opened by it, or tokens,
    /// sessions and accounts that exist were made by it.
    private struct StartKey: Sendable {
        let name: String
        let isSame: @Sendable (GatewayConfiguration, GatewayConfiguration) -> Bool

        init<Value: Sendable & Equatable>(
            _ name: String, _ path: any KeyPath<GatewayConfiguration, Value> & Sendable
        ) {
            self.name = name
            isSame = { $0[keyPath: path] == $1[keyPath: path] }
        }
    }

    /// All of them; every other key may change while the gateway runs. `docs/operations.md` has the reasons.
    private static let startKeyList: [StartKey] = [
        StartKey("server.listen", \.server.listen), StartKey("server.admin", \.server.admin),
        StartKey("server.socket_mode", \.server.socketMode), StartKey("server.threads", \.server.threads),
        StartKey("server.proxy_protocol", \.server.proxyProtocol), StartKey("server.watch", \.server.watch),
        StartKey("server.reuse_port", \.server.reusePort), StartKey("server.tls", \.hasTLS),
        StartKey("state.url", \.state.url), StartKey("state.grace", \.state.grace),
        StartKey("keys.directory", \.keys.directory), StartKey("keys.passphrase_file", \.keys.passphraseFile),
        StartKey("keys.passphrase", \.keys.passphrase), StartKey("tokens.issuer", \.tokens.issuer),
        StartKey("tokens.audience", \.tokens.audience), StartKey("tokens.claims", \.tokens.claims),
        StartKey("tokens.algorithm", \.tokens.algorithm),
        StartKey("tokens.access_token_lifetime", \.tokens.accessTokenLifetime),
        StartKey("tokens.refresh_token_lifetime", \.tokens.refreshTokenLifetime),
        StartKey("tokens.clock_skew", \.tokens.clockSkew),
        StartKey("sessions.anonymous_idle", \.sessions.anonymousIdle),
        StartKey("sessions.anonymous_lifetime", \.sessions.anonymousLifetime),
        StartKey("sessions.idle", \.sessions.idle), StartKey("sessions.lifetime", \.sessions.lifetime),
        StartKey("runtime.url", \.runtime.url), StartKey("runtime.mcp", \.runtime.mcp),
        StartKey("accounts.default_tenant", \.accounts.defaultTenant),
        StartKey("accounts.default_scope", \.accounts.defaultScope), StartKey("clients.ca", \.clients.ca),
        StartKey("passkeys.rp_id", \.passkeys.rpID), StartKey("log.format", \.log.format),
        StartKey("log.access", \.log.access), StartKey("audit.file", \.audit.file),
        StartKey("tracing.otlp", \.tracing.otlp), StartKey("events", \.events),
    ]

    /// The names of the keys that a gateway reads once, when it starts. `server.tls` stands for whether there is TLS:
    /// its files may change.
    package static var startKeys: [String] { startKeyList.map(\.name) }

    private var hasTLS: Bool { server.tls != nil }

    /// Refuses, as what a running gateway shall go on with, a configuration that differs from the one that it was made
    /// with in what only a start reads.
    ///
    /// - Throws: ``ConfigurationError`` for the first such key.
    package func checkStartKeys(as running: GatewayConfiguration) throws(ConfigurationError) {
        guard let changed = Self.startKeyList.first(where: { !$0.isSame(self, running) }) else { return }
        throw ConfigurationError(.restartNeeded, key: changed.name)
    }
}
