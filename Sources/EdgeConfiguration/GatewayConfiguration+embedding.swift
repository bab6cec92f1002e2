import SecurityGuard

/// A setting that can't be used.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// It is no `HOST:PORT`.
        case addressUnreadable = "address_unreadable"
        /// It is empty, or longer than 1024 bytes.
        case passphraseLength = "passphrase_length"
    }

    /// What is wrong with it.
    public let code: Code
    /// The key of the setting, as the configuration file has it; of the passphrase, which stands in no file, its label.
    public let key: String

    /// One sentence for the operator; the value itself is not repeated.
    public var description: String {
        switch code {
        case .addressUnreadable: "\(key): write HOST:PORT, or [IPv6]:PORT"
        case .passphraseLength: "\(key): give 1 to 1024 bytes, or none at all"
        }
    }
}

extension GatewayConfiguration {
    /// The settings that a gateway inside another program most often needs; everything else is at its default.
    ///
    /// - Parameters:
    ///   - listen: `server.listen`, where port 0 picks one.
    ///   - admin: `server.admin`, the listener for health and metrics; nil opens none.
    ///   - state: `state.url`, `sqlite:PATH` or `postgres://…`.
    ///   - keys: `keys.directory`. Keys are made there if there are none.
    ///   - keysPassphrase: opens encrypted keys, and new ones are encrypted with it; nil makes them in the clear.
    ///   - issuer: `tokens.issuer`; nil stands for the address that was bound.
    ///   - registration: `accounts.registration`, whether anyone may register.
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
        if let keysPassphrase { self.keys.passphrase = try Self.passphrase(keysPassphrase) }
        self.tokens.issuer = issuer
        self.accounts.registration = registration
    }

    private static func address(_ text: String, key: String) throws(ConfigurationError) -> ListenAddress {
        guard let address = ListenAddress(text) else { throw ConfigurationError(code: .addressUnreadable, key: key) }
        return address
    }

    private static func passphrase(_ bytes: [UInt8]) throws(ConfigurationError) -> KeyPassphrase {
        do throws(GuardError) {
            return try KeyPassphrase(bytes)
        } catch {
            throw ConfigurationError(code: .passphraseLength, key: "keysPassphrase")
        }
    }
}
