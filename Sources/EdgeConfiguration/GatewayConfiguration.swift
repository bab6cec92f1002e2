import SecurityGuard

/// All settings of a gateway, as plain values.
///
/// The documentation of each property names its key in the configuration file. Times are milliseconds, sizes are bytes.
/// A new value has the defaults. Paths, addresses and URLs are as they were written: they have not been resolved or
/// opened. Numbers outside their bounds are refused by ``check()``, which a gateway calls when it starts.
public struct GatewayConfiguration: Sendable, Equatable {
    /// The listeners and the limits of every connection.
    public var server = Server()
    /// Where sessions, accounts and refresh families are stored.
    public var state = State()
    /// Where the signing keys are stored.
    public var keys = Keys()
    /// What tokens say and how long they are valid.
    public var tokens = Tokens()
    /// How long sessions may be unused, and how long they live at most.
    public var sessions = Sessions()
    /// WebSockets.
    public var webSocket = WebSocket()
    /// How much one caller may use.
    public var limits = Limits()
    /// Where agents run.
    public var runtime = RuntimeConfiguration()
    /// Accounts and registration.
    public var accounts = Accounts()
    /// Clients of agents.
    public var clients = ClientsConfiguration()
    /// Passkeys.
    public var passkeys = PasskeysConfiguration()
    /// How much refusals explain.
    public var errors = Errors()
    /// The log on standard error, and the access log. The executable `gatehouse` carries these out; a `Gateway` in
    /// another program has that program's logger, and refuses what differs from the defaults here.
    public var log = Log()
    /// The audit log. The executable `gatehouse` writes the file; a `Gateway` in another program refuses it unless the
    /// program takes the events.
    public var audit = Audit()
    /// Where spans of recorded traces are sent.
    public var tracing = Tracing()
    /// Which requests are forwarded, and where.
    public var routes: [RouteConfiguration] = []
    /// Other issuers whose tokens may be exchanged.
    public var issuers: [IssuerConfiguration] = []
    /// The receivers of events (webhooks).
    public var events: [EventReceiverConfiguration] = []
    /// The identity providers through which people sign in.
    public var identityProviders: [IdentityProviderConfiguration] = []

    /// The defaults.
    public init() {}
}

extension GatewayConfiguration {
    /// `state.*`: where sessions, accounts and refresh families are stored.
    public struct State: Sendable, Equatable {
        /// `state.url`: `sqlite:PATH` or `postgres://…`, which may contain a password.
        public var url = "sqlite:var/gatehouse.sqlite"
        /// `state.grace`: how long verified traffic goes on without the store, counted from its last beat.
        public var grace: Int64 = 30_000

        /// The defaults.
        public init() {}
    }

    /// `keys.*`: where the signing keys are stored.
    public struct Keys: Sendable, Equatable {
        /// `keys.directory`: the directory of the key files.
        public var directory = "keys"
        /// `keys.passphrase_file`: the file with the passphrase that the key files are encrypted with.
        public var passphraseFile: String?
        /// The passphrase itself, where it was given without a file; see ``encrypt(with:)``.
        package var passphrase: KeyPassphrase?

        /// The defaults.
        public init() {}

        /// Sets a passphrase that is not in a file: key files are opened, and new ones encrypted, with it.
        ///
        /// - Throws: ``ConfigurationError`` for one that is empty or longer than 1024 bytes.
        public mutating func encrypt(with passphrase: [UInt8]) throws(ConfigurationError) {
            do throws(GuardError) {
                self.passphrase = try KeyPassphrase(passphrase)
            } catch {
                throw ConfigurationError(.passphraseLength, key: "keys.passphrase")
            }
        }

        /// The passphrase of the key files, as it was given or from its file; nil where there is none.
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

    /// `accounts.*`: accounts and registration.
    public struct Accounts: Sendable, Equatable {
        /// `accounts.registration`: whether registration is open to all.
        public var registration = false
        /// `accounts.registration_tenants`: the tenants that a registration may name; empty gives each account a tenant
        /// of its own.
        public var registrationTenants: [String] = []
        /// `accounts.default_tenant`: the tenant whose account is used where several tenants have the same e-mail; nil
        /// for none.
        public var defaultTenant: String?
        /// `accounts.passwords`: whether users can sign in with a password.
        public var passwords = true
        /// `accounts.default_scope`: the scope of accounts without one of their own.
        public var defaultScope: [String] = []

        /// The defaults.
        public init() {}
    }

    /// `errors.*`: how much refusals explain.
    public struct Errors: Sendable, Equatable {
        /// `errors.explain`: adds the `reason` member to refusals, for development only.
        public var explain = false

        /// The defaults.
        public init() {}
    }

    /// `log.*`: the log on standard error.
    public struct Log: Sendable, Equatable {
        /// The two formats of a line.
        public enum Format: String, Sendable, CaseIterable {
            case text
            case json
        }

        /// The lowest severity that is logged.
        public enum Level: String, Sendable, CaseIterable {
            case trace
            case debug
            case info
            case notice
            case warning
            case error
            case critical
        }

        /// `log.format`: the format of a line. A `Gateway` in another program refuses another than the default: the
        /// format is that of the logger that it is given.
        public var format = Format.text
        /// `log.level`: the lowest severity that is logged. A `Gateway` in another program refuses another than the
        /// default, unless it is the level of the logger that it is given.
        public var level = Level.info
        /// `log.access`: the file of the access log, or `stderr`; nil for none. The executable `gatehouse` writes it. A
        /// `Gateway` in another program refuses it unless the program takes the lines.
        public var access: String?

        /// The defaults.
        public init() {}
    }

    /// `tracing.*`: where spans of recorded traces are sent.
    public struct Tracing: Sendable, Equatable {
        /// `tracing.otlp`: the collector, `http://HOST:PORT` or `https://HOST:PORT`, which is sent OTLP over HTTP; nil
        /// for none.
        public var otlp: String?
        /// `tracing.ratio`: the share of the traces begun here that are recorded, 0 to 1. A client's decision is kept.
        public var ratio = 0.0

        /// The defaults.
        public init() {}
    }

    /// `audit.*`: the hash-chained record of decisions, which the executable `gatehouse` writes.
    public struct Audit: Sendable, Equatable {
        /// `audit.file`: the file that it is appended to; nil for none.
        public var file: String?

        /// The defaults.
        public init() {}
    }
}
