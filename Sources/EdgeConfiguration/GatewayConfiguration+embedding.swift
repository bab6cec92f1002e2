extension GatewayConfiguration {
    /// The settings that a gateway inside another program most often needs; everything else is at its default.
    ///
    /// - Parameters:
    ///   - listen: `server.listen`. Port 0 lets the system choose a port.
    ///   - admin: `server.admin`, the listener for health and metrics; nil opens none.
    ///   - state: `state.url`, `sqlite:PATH` or `postgres://…`.
    ///   - keys: `keys.directory`. Keys are made there if there are none.
    ///   - keysPassphrase: opens encrypted keys, and new ones are encrypted with it; nil leaves new ones unencrypted.
    ///   - issuer: `tokens.issuer`; nil for the address that is bound.
    ///   - registration: `accounts.registration`, whether registration is open to all.
    /// - Throws: ``ConfigurationError`` for an address that can't be read, or a passphrase that can't be used.
    public init(
        listen: String, admin: String? = nil, state: String = "sqlite:var/gatehouse.sqlite",
        keys: String = "keys", keysPassphrase: [UInt8]? = nil, issuer: String? = nil, registration: Bool = false
    ) throws(ConfigurationError) {
        self.init()
        self.server.listen = try Self.address(listen, key: "server.listen")
        self.server.admin = nil
        if let admin { self.server.admin = try Self.address(admin, key: "server.admin") }
        self.state.url = state
        self.keys.directory = keys
        if let keysPassphrase { try self.keys.encrypt(with: keysPassphrase) }
        self.tokens.issuer = issuer
        self.accounts.registration = registration
    }

    private static func address(_ text: String, key: String) throws(ConfigurationError) -> ListenAddress {
        guard let address = ListenAddress(text) else { throw ConfigurationError(.addressUnreadable, key: key) }
        return address
    }
}
