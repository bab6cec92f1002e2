import SecurityGuard

/// Everything an operator may decide, as plain values.
///
/// Each property names the key of the configuration file that it stands for. Times are milliseconds, sizes are bytes. A
/// fresh value holds the defaults. Nothing here has been looked up or opened: paths, addresses and URLs are as they were
/// written. Numbers outside their bounds are refused by ``check()``, which a gateway calls when it starts.
public struct GatewayConfiguration: Sendable, Equatable {
    /// The listeners and what every connection must keep to.
    public var server = Server()
    /// Where sessions, accounts and refresh families live.
    public var state = State()
    /// Where the signing keys lie.
    public var keys = Keys()
    /// What tokens say and how long they hold.
    public var tokens = Tokens()
    /// How long sessions live, unused and at all.
    public var sessions = Sessions()
    /// The socket edge.
    public var webSocket = WebSocket()
    /// What one caller may take.
    public var limits = Limits()
    /// Where agents run.
    public var runtime = RuntimeConfiguration()
    /// Who may have an account.
    public var accounts = Accounts()
    /// How much a refusal tells.
    public var errors = Errors()
    /// What is written to standard error, by the executable alone.
    public var log = Log()
    /// The audit log that the executable keeps.
    public var audit = Audit()
    /// What is forwarded where.
    public var routes: [RouteConfiguration] = []
    /// Other issuers whose tokens may be exchanged.
    public var issuers: [IssuerConfiguration] = []

    /// The defaults.
    public init() {}
}

extension GatewayConfiguration {
    /// `state.*`: where sessions, accounts and refresh families live.
    public struct State: Sendable, Equatable {
        /// `state.url`: `sqlite:PATH` or `postgres://…`, which may hold a password.
        public var url = "sqlite:var/gatehouse.sqlite"
        /// `state.grace`: how long verified traffic goes on without the store, counted from its last beat.
        public var grace: Int64 = 30_000

        /// The defaults.
        public init() {}
    }

    /// `keys.*`: where the signing keys lie.
    public struct Keys: Sendable, Equatable {
        /// `keys.directory`.
        public var directory = "keys"
        /// `keys.passphrase_file`: holds what the key files are encrypted with.
        public var passphraseFile: String?
        /// The passphrase itself, where it was given without a file; see ``encrypt(with:)``.
        package var passphrase: KeyPassphrase?

        /// The defaults.
        public init() {}

        /// Has key files opened, and new ones encrypted, with a passphrase that stands in no file.
        ///
        /// - Throws: ``ConfigurationError`` for one that is empty or longer than 1024 bytes.
        public mutating func encrypt(with passphrase: [UInt8]) throws(ConfigurationError) {
            do throws(GuardError) {
                self.passphrase = try KeyPassphrase(passphrase)
            } catch {
                throw ConfigurationError(.passphraseLength, key: "keys.passphrase")
            }
        }

        /// The passphrase of the key files, from where it was given; nil where none was.
        package func readPassphrase() throws(GuardError) -> KeyPassphrase? {
            if let passphrase { return passphrase }
            guard let passphraseFile else { return nil }
            do throws(GuardError) {
                return try KeyPassphrase(file: passphraseFile)
            } catch {
                throw GuardError(error.code, "keys.passphrase_file: \(error.message)")
            }
        }
    }

    /// `accounts.*`: who may have an account.
    public struct Accounts: Sendable, Equatable {
        /// `accounts.registration`: whether anyone may register.
        public var registration = false
        /// `accounts.registration_tenants`: where they may register by name; empty gives each a tenant of its own.
        public var registrationTenants: [String] = []
        /// `accounts.default_tenant`: whose account counts where several tenants have an e-mail; nil prefers none.
        public var defaultTenant: String?
        /// `accounts.passwords`: whether passwords let anybody in.
        public var passwords = true
        /// `accounts.default_scope`: the scope of accounts that were given none of their own.
        public var defaultScope: [String] = []

        /// The defaults.
        public init() {}
    }

    /// `errors.*`: how much a refusal tells.
    public struct Errors: Sendable, Equatable {
        /// `errors.explain`: adds the `reason` member to refusals, for development only.
        public var explain = false

        /// The defaults.
        public init() {}
    }

    /// `log.*`: what is written to standard error.
    public struct Log: Sendable, Equatable {
        /// The two shapes of a line.
        public enum Format: String, Sendable, CaseIterable {
            case text
            case json
        }

        /// From which severity on a line is written.
        public enum Level: String, Sendable, CaseIterable {
            case trace
            case debug
            case info
            case notice
            case warning
            case error
            case critical
        }

        /// `log.format`.
        public var format = Format.text
        /// `log.level`.
        public var level = Level.info

        /// The defaults.
        public init() {}
    }

    /// `audit.*`: the hash-chained record of what was decided.
    public struct Audit: Sendable, Equatable {
        /// `audit.file`: where it is appended; nil keeps none.
        public var file: String?

        /// The defaults.
        public init() {}
    }
}
